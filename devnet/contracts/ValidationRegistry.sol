// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IIdentityRegistry} from "../../contracts/interfaces/IIdentityRegistry.sol";

/// @notice Validation registry in the shape of ERC-8004: agents ask a validator, which alone answers from 0 to 100.
contract ValidationRegistry {
    struct Validation {
        address validator;
        uint256 agentId;
        uint8 response;
        bytes32 responseHash;
        string tag;
        uint256 lastUpdate;
        bool isAnswered;
    }

    /// @notice An agent asked a validator; a hash is taken by the first request that names it.
    event ValidationRequest(
        address indexed validatorAddress,
        uint256 indexed agentId,
        string requestURI,
        bytes32 indexed requestHash
    );
    /// @notice A validator answered, for the first time or again.
    event ValidationResponse(
        address indexed validatorAddress,
        uint256 indexed agentId,
        bytes32 indexed requestHash,
        uint8 response,
        string responseURI,
        bytes32 responseHash,
        string tag
    );

    address private immutable IDENTITY_REGISTRY;

    mapping(bytes32 requestHash => Validation) private _validations;
    mapping(uint256 agentId => bytes32[]) private _ofAgent;
    mapping(address validator => bytes32[]) private _ofValidator;

    constructor(address identityRegistry) {
        IDENTITY_REGISTRY = identityRegistry;
    }

    /// @notice Asks a validator; only owners and operators of the agent may.
    function validationRequest(
        address validatorAddress,
        uint256 agentId,
        string calldata requestURI,
        bytes32 requestHash
    ) external {
        require(validatorAddress != address(0), "bad validator");
        Validation storage validation = _validations[requestHash];
        require(validation.validator == address(0), "exists");
        bool isOwn = IIdentityRegistry(IDENTITY_REGISTRY).isAuthorizedOrOwner(msg.sender, agentId);
        require(isOwn, "Not authorized");

        validation.validator = validatorAddress;
        validation.agentId = agentId;
        validation.lastUpdate = block.timestamp;
        _ofAgent[agentId].push(requestHash);
        _ofValidator[validatorAddress].push(requestHash);
        emit ValidationRequest(validatorAddress, agentId, requestURI, requestHash);
    }

    /// @notice Answers a request as its validator; a later answer replaces an earlier one.
    function validationResponse(
        bytes32 requestHash,
        uint8 response,
        string calldata responseURI,
        bytes32 responseHash,
        string calldata tag
    ) external {
        Validation storage validation = _known(requestHash);
        require(msg.sender == validation.validator, "not validator");
        require(response <= 100, "resp>100");

        validation.response = response;
        validation.responseHash = responseHash;
        validation.tag = tag;
        validation.lastUpdate = block.timestamp;
        validation.isAnswered = true;
        emit ValidationResponse(
            msg.sender, validation.agentId, requestHash, response, responseURI, responseHash, tag
        );
    }

    /// @notice The newest answer; a request without one reads like an answer of 0 without a tag.
    function getValidationStatus(bytes32 requestHash)
        external
        view
        returns (
            address validatorAddress,
            uint256 agentId,
            uint8 response,
            bytes32 responseHash,
            string memory tag,
            uint256 lastUpdate
        )
    {
        Validation storage found = _known(requestHash);
        return
            (found.validator, found.agentId, found.response, found.responseHash, found.tag, found.lastUpdate);
    }

    /// @notice Count and average of the answers about an agent; no validators admit all, an empty tag every tag.
    function getSummary(uint256 agentId, address[] calldata validatorAddresses, string calldata tag)
        external
        view
        returns (uint64 count, uint8 averageResponse)
    {
        uint256 sum;
        bytes32[] storage hashes = _ofAgent[agentId];
        for (uint256 i; i < hashes.length; ++i) {
            Validation storage validation = _validations[hashes[i]];
            if (!validation.isAnswered || !_isAmong(validation.validator, validatorAddresses)) continue;
            if (bytes(tag).length != 0 && keccak256(bytes(tag)) != keccak256(bytes(validation.tag))) {
                continue;
            }
            sum += validation.response;
            ++count;
        }
        if (count != 0) averageResponse = uint8(sum / count);
    }

    /// @notice Hashes of all requests about an agent.
    function getAgentValidations(uint256 agentId) external view returns (bytes32[] memory) {
        return _ofAgent[agentId];
    }

    /// @notice Hashes of all requests that name a validator.
    function getValidatorRequests(address validatorAddress) external view returns (bytes32[] memory) {
        return _ofValidator[validatorAddress];
    }

    /// @notice Registry whose agents are validated.
    function getIdentityRegistry() external view returns (address) {
        return IDENTITY_REGISTRY;
    }

    function _known(bytes32 requestHash) private view returns (Validation storage validation) {
        validation = _validations[requestHash];
        require(validation.validator != address(0), "unknown");
    }

    function _isAmong(address validator, address[] calldata validators) private pure returns (bool) {
        for (uint256 i; i < validators.length; ++i) {
            if (validators[i] == validator) return true;
        }
        return validators.length == 0;
    }
}
