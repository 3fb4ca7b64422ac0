// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IIdentityRegistry} from "../../contracts/interfaces/IIdentityRegistry.sol";

/// @notice Reputation registry in the shape of ERC-8004: clients leave, revoke and average feedback about agents.
/// `readAllFeedback` and responses to feedback are left out.
contract ReputationRegistry {
    struct Entry {
        int128 value;
        uint8 valueDecimals;
        bool isRevoked;
        string tag1;
        string tag2;
    }

    /// @dev Values with 18 decimals, and how many entries have each number of decimals.
    struct Totals {
        int256 sum;
        uint64 count;
        uint64[] withDecimals;
    }

    /// @notice A client left feedback; indexes count from 1 for each agent and client.
    event NewFeedback(
        uint256 indexed agentId,
        address indexed clientAddress,
        uint64 feedbackIndex,
        int128 value,
        uint8 valueDecimals,
        string indexed indexedTag1,
        string tag1,
        string tag2,
        string endpoint,
        string feedbackURI,
        bytes32 feedbackHash
    );
    /// @notice A client took its feedback back.
    event FeedbackRevoked(
        uint256 indexed agentId, address indexed clientAddress, uint64 indexed feedbackIndex
    );

    /// @notice Largest value of either sign.
    int128 public constant MAX_VALUE = 1e38;
    /// @notice Most decimals of a value.
    uint8 public constant MAX_DECIMALS = 18;

    address private immutable IDENTITY_REGISTRY;

    mapping(uint256 agentId => mapping(address client => Entry[])) private _entries;
    mapping(uint256 agentId => address[]) private _clients;

    constructor(address identityRegistry) {
        IDENTITY_REGISTRY = identityRegistry;
    }

    /// @notice Leaves feedback; owners and operators of the agent are refused.
    function giveFeedback(
        uint256 agentId,
        int128 value,
        uint8 valueDecimals,
        string calldata tag1,
        string calldata tag2,
        string calldata endpoint,
        string calldata feedbackURI,
        bytes32 feedbackHash
    ) external {
        require(valueDecimals <= MAX_DECIMALS, "too many decimals");
        require(-MAX_VALUE <= value && value <= MAX_VALUE, "value too large");
        // Reverts for an agent that does not exist.
        bool isOwn = IIdentityRegistry(IDENTITY_REGISTRY).isAuthorizedOrOwner(msg.sender, agentId);
        require(!isOwn, "Self-feedback not allowed");

        Entry[] storage own = _entries[agentId][msg.sender];
        if (own.length == 0) _clients[agentId].push(msg.sender);
        own.push(Entry(value, valueDecimals, false, tag1, tag2));
        emit NewFeedback(
            agentId,
            msg.sender,
            uint64(own.length),
            value,
            valueDecimals,
            tag1,
            tag1,
            tag2,
            endpoint,
            feedbackURI,
            feedbackHash
        );
    }

    /// @notice Takes the caller's feedback back; it stays readable and leaves the averages.
    function revokeFeedback(uint256 agentId, uint64 feedbackIndex) external {
        Entry storage entry = _entryOf(agentId, msg.sender, feedbackIndex);
        require(!entry.isRevoked, "Already revoked");
        entry.isRevoked = true;
        emit FeedbackRevoked(agentId, msg.sender, feedbackIndex);
    }

    /// @notice Count and average of what these clients left and did not revoke; an empty tag admits every tag.
    /// The average has the decimals that most entries have.
    function getSummary(
        uint256 agentId,
        address[] calldata clientAddresses,
        string calldata tag1,
        string calldata tag2
    ) external view returns (uint64 count, int128 summaryValue, uint8 summaryValueDecimals) {
        require(clientAddresses.length != 0, "clientAddresses required");
        Totals memory totals = Totals(0, 0, new uint64[](MAX_DECIMALS + 1));
        bytes32 hash1 = keccak256(bytes(tag1));
        bytes32 hash2 = keccak256(bytes(tag2));
        for (uint256 i; i < clientAddresses.length; ++i) {
            _add(totals, _entries[agentId][clientAddresses[i]], hash1, hash2);
        }
        count = totals.count;
        if (count == 0) return (0, 0, 0);
        for (uint8 decimals = 1; decimals <= MAX_DECIMALS; ++decimals) {
            if (totals.withDecimals[decimals] > totals.withDecimals[summaryValueDecimals]) {
                summaryValueDecimals = decimals;
            }
        }
        int256 average = totals.sum / int256(uint256(count));
        summaryValue = int128(average / int256(10 ** uint256(MAX_DECIMALS - summaryValueDecimals)));
    }

    /// @notice One entry, revoked or not.
    function readFeedback(uint256 agentId, address clientAddress, uint64 feedbackIndex)
        external
        view
        returns (int128 value, uint8 valueDecimals, string memory tag1, string memory tag2, bool isRevoked)
    {
        Entry storage entry = _entryOf(agentId, clientAddress, feedbackIndex);
        return (entry.value, entry.valueDecimals, entry.tag1, entry.tag2, entry.isRevoked);
    }

    /// @notice Index of the client's newest entry; 0 without one.
    function getLastIndex(uint256 agentId, address clientAddress) external view returns (uint64) {
        return uint64(_entries[agentId][clientAddress].length);
    }

    /// @notice Everybody who ever left feedback about the agent.
    function getClients(uint256 agentId) external view returns (address[] memory) {
        return _clients[agentId];
    }

    /// @notice Registry whose agents feedback is about.
    function getIdentityRegistry() external view returns (address) {
        return IDENTITY_REGISTRY;
    }

    function _entryOf(uint256 agentId, address client, uint64 feedbackIndex)
        private
        view
        returns (Entry storage)
    {
        Entry[] storage entries = _entries[agentId][client];
        require(feedbackIndex > 0, "index must be > 0");
        require(feedbackIndex <= entries.length, "index out of bounds");
        return entries[feedbackIndex - 1];
    }

    function _add(Totals memory totals, Entry[] storage entries, bytes32 hash1, bytes32 hash2) private view {
        for (uint256 j; j < entries.length; ++j) {
            Entry storage entry = entries[j];
            if (entry.isRevoked || !_admits(hash1, entry.tag1) || !_admits(hash2, entry.tag2)) continue;
            totals.sum += int256(entry.value) * int256(10 ** uint256(MAX_DECIMALS - entry.valueDecimals));
            ++totals.withDecimals[entry.valueDecimals];
            ++totals.count;
        }
    }

    function _admits(bytes32 wanted, string storage tag) private pure returns (bool) {
        return wanted == keccak256("") || wanted == keccak256(bytes(tag));
    }
}
