// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {ERC721} from "solady/tokens/ERC721.sol";
import {EIP712} from "solady/utils/EIP712.sol";
import {SignatureCheckerLib} from "solady/utils/SignatureCheckerLib.sol";

/// @notice Identity registry in the shape of ERC-8004: agents are ERC-721 tokens with a URI, metadata and a wallet.
contract IdentityRegistry is ERC721, EIP712 {
    struct MetadataEntry {
        string metadataKey;
        bytes metadataValue;
    }

    /// @notice An agent was registered; ids start at 0.
    event Registered(uint256 indexed agentId, string agentURI, address indexed owner);
    /// @notice The agent's URI changed.
    event URIUpdated(uint256 indexed agentId, string newURI, address indexed updatedBy);
    /// @notice A metadata entry changed; for "agentWallet" the value is 20 packed bytes, or empty once cleared.
    event MetadataSet(
        uint256 indexed agentId, string indexed indexedMetadataKey, string metadataKey, bytes metadataValue
    );

    error NotAuthorized(address caller, uint256 agentId);
    error ReservedKey();
    error ZeroWallet();
    error DeadlinePassed(uint256 deadline);
    error DeadlineTooFar(uint256 deadline, uint256 latest);
    error InvalidWalletSignature(address newWallet);

    /// @notice EIP-712 type of the consent that a new agent wallet signs.
    bytes32 public constant AGENT_WALLET_SET_TYPEHASH =
        keccak256("AgentWalletSet(uint256 agentId,address newWallet,address owner,uint256 deadline)");

    /// @notice Longest time a wallet's consent may be valid, in seconds.
    uint256 public constant MAX_DEADLINE_DELAY = 5 minutes;

    string private constant WALLET_KEY = "agentWallet";
    bytes32 private constant WALLET_KEY_HASH = keccak256("agentWallet");

    uint256 private _nextId;
    mapping(uint256 agentId => string uri) private _uris;
    mapping(uint256 agentId => mapping(string key => bytes value)) private _metadata;

    /// @notice Registers an agent without a URI.
    function register() external returns (uint256 agentId) {
        return _register("");
    }

    /// @notice Registers an agent with a URI.
    function register(string calldata agentURI) external returns (uint256 agentId) {
        return _register(agentURI);
    }

    /// @notice Registers an agent with a URI and metadata; "agentWallet" is not allowed among the keys.
    function register(string calldata agentURI, MetadataEntry[] calldata metadata)
        external
        returns (uint256 agentId)
    {
        agentId = _register(agentURI);
        for (uint256 i; i < metadata.length; ++i) {
            _setMetadata(agentId, metadata[i].metadataKey, metadata[i].metadataValue);
        }
    }

    /// @notice Replaces the agent's URI.
    function setAgentURI(uint256 agentId, string calldata newURI) external {
        _checkAuthorized(agentId);
        _uris[agentId] = newURI;
        emit URIUpdated(agentId, newURI, msg.sender);
    }

    /// @notice Sets a metadata entry other than "agentWallet".
    function setMetadata(uint256 agentId, string calldata key, bytes calldata value) external {
        _checkAuthorized(agentId);
        _setMetadata(agentId, key, value);
    }

    /// @notice Names the wallet that acts for the agent; the wallet consents by an EIP-712 or ERC-1271 signature.
    function setAgentWallet(uint256 agentId, address newWallet, uint256 deadline, bytes calldata signature)
        external
    {
        _checkAuthorized(agentId);
        if (newWallet == address(0)) revert ZeroWallet();
        if (block.timestamp > deadline) revert DeadlinePassed(deadline);
        uint256 latest = block.timestamp + MAX_DEADLINE_DELAY;
        if (deadline > latest) revert DeadlineTooFar(deadline, latest);

        bytes32 digest = _hashTypedData(
            keccak256(abi.encode(AGENT_WALLET_SET_TYPEHASH, agentId, newWallet, ownerOf(agentId), deadline))
        );
        if (!SignatureCheckerLib.isValidSignatureNowCalldata(newWallet, digest, signature)) {
            revert InvalidWalletSignature(newWallet);
        }
        _setWallet(agentId, abi.encodePacked(newWallet));
    }

    /// @notice Clears the agent's wallet.
    function unsetAgentWallet(uint256 agentId) external {
        _checkAuthorized(agentId);
        _setWallet(agentId, "");
    }

    /// @notice The agent's wallet; zero while it is cleared or the agent does not exist.
    function getAgentWallet(uint256 agentId) external view returns (address) {
        return address(bytes20(_metadata[agentId][WALLET_KEY]));
    }

    /// @notice A metadata entry; empty if it was never set.
    function getMetadata(uint256 agentId, string calldata key) external view returns (bytes memory) {
        return _metadata[agentId][key];
    }

    /// @notice Whether `spender` may act for the agent; reverts if the agent does not exist.
    function isAuthorizedOrOwner(address spender, uint256 agentId) external view returns (bool) {
        return _isApprovedOrOwner(spender, agentId);
    }

    function name() public pure override returns (string memory) {
        return "AgentIdentity";
    }

    function symbol() public pure override returns (string memory) {
        return "AGENT";
    }

    function tokenURI(uint256 agentId) public view override returns (string memory) {
        ownerOf(agentId);
        return _uris[agentId];
    }

    /// @dev The order of ERC-8004's reference: the wallet is stored before the new owner is called back, which may
    /// change it or hand the agent on, and its log comes last whatever became of it.
    function _register(string memory agentURI) private returns (uint256 agentId) {
        agentId = _nextId++;
        bytes memory packed = abi.encodePacked(msg.sender);
        _metadata[agentId][WALLET_KEY] = packed;
        _safeMint(msg.sender, agentId);
        if (bytes(agentURI).length != 0) _uris[agentId] = agentURI;
        emit Registered(agentId, agentURI, msg.sender);
        emit MetadataSet(agentId, WALLET_KEY, WALLET_KEY, packed);
    }

    function _setMetadata(uint256 agentId, string calldata key, bytes calldata value) private {
        if (keccak256(bytes(key)) == WALLET_KEY_HASH) revert ReservedKey();
        _metadata[agentId][key] = value;
        emit MetadataSet(agentId, key, key, value);
    }

    function _setWallet(uint256 agentId, bytes memory packed) private {
        _metadata[agentId][WALLET_KEY] = packed;
        emit MetadataSet(agentId, WALLET_KEY, WALLET_KEY, packed);
    }

    /// @dev A new owner does not inherit the wallet of the old one: it is cleared before the Transfer log.
    function _beforeTokenTransfer(address from, address to, uint256 agentId) internal override {
        if (from != address(0) && to != address(0)) _setWallet(agentId, "");
    }

    function _checkAuthorized(uint256 agentId) private view {
        if (!_isApprovedOrOwner(msg.sender, agentId)) revert NotAuthorized(msg.sender, agentId);
    }

    function _domainNameAndVersion() internal pure override returns (string memory, string memory) {
        return ("ERC8004IdentityRegistry", "1");
    }
}
