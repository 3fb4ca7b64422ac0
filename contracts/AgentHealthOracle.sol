// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {ECDSA} from "solady/utils/ECDSA.sol";
import {EIP712} from "solady/utils/EIP712.sol";
import {MerkleProofLib} from "solady/utils/MerkleProofLib.sol";
import {SafeTransferLib} from "solady/utils/SafeTransferLib.sol";
import {SignatureCheckerLib} from "solady/utils/SignatureCheckerLib.sol";

import {RecordCodec} from "./RecordCodec.sol";
import {IAgentHealthOracle} from "./interfaces/IAgentHealthOracle.sol";
import {IIdentityRegistry} from "./interfaces/IIdentityRegistry.sol";

/// @title AgentHealthOracle
/// @dev Invariants: a stored as-of never decreases and is never above block.number; only the publisher or a
/// valid signature puts a record in place; score <= 100 and the grade matches it; reads never depend on `paused`;
/// a wallet never published has no record.
contract AgentHealthOracle is IAgentHealthOracle, EIP712 {
    /// @dev How long after its as-of time a score may be relayed: an old good score must not read as fresh.
    uint64 private constant VALIDITY = 48 hours;

    /// @dev Bounds the search for an ERC-1271 signer.
    uint256 private constant MAX_SIGNERS = 8;

    uint256 private constant PAUSED = 1 << 160;

    /// @dev Byte k is the route of grade k: none (no record, insufficient) and C escrow, A and B settle at once, D, E
    /// and F reject.
    uint256 private constant ROUTES = 0x0201010203030300000000000000000000000000000000000000000000000000;

    bytes32 private constant SCORE_TYPEHASH = keccak256(
        "Score(address wallet,uint8 score,uint8 d1,uint8 d2,uint16 confidence,uint8 flags,uint16 modelVersion,uint64 asOf,uint64 asOfTime,uint64 validUntil,uint16 safe)"
    );

    /// @dev A struct, so that reading and then writing a record hashes its place once.
    struct Slot {
        uint256 record;
    }

    address public immutable identityRegistry;

    /// @dev Publisher 160 bits, paused 8, unused 24, latest epoch 64: the check of the role reads the pause as well.
    uint256 private _gate;

    address public owner;
    address public pendingOwner;
    uint256 public requestFee;
    bytes32 private _root;
    address[] private _signers;

    mapping(address signer => uint64) public signerUntil;
    mapping(address wallet => Slot) private _records;

    modifier onlyOwner() {
        if (msg.sender != owner) revert NotOwner(msg.sender);
        _;
    }

    modifier onlyPublisher() {
        // The low 168 bits are the publisher alone exactly when writes are not paused.
        if (uint168(_gate) != uint160(msg.sender)) _refusePublisher();
        _;
    }

    modifier whenNotPaused() {
        if (paused()) revert WritesPaused();
        _;
    }

    /// @dev One branch for both: zero wraps around to more than any block or time.
    modifier onlyPast(uint64 asOf, uint64 asOfTime) {
        bool past;
        assembly ("memory-safe") {
            past := and(lt(sub(asOf, 1), number()), lt(sub(asOfTime, 1), timestamp()))
        }
        if (!past) _refuseTimes(asOf, asOfTime);
        _;
    }

    constructor(
        address owner_,
        address publisher_,
        address[] memory signers_,
        address identityRegistry_,
        uint256 requestFee_
    ) {
        if (owner_ == address(0)) revert ZeroAddress();
        if (identityRegistry_ == address(0)) revert ZeroAddress();
        identityRegistry = identityRegistry_;
        owner = owner_;
        emit OwnershipTransferred(address(0), owner_);
        _setPublisher(publisher_);
        for (uint256 i; i < signers_.length; ++i) {
            _setSigner(signers_[i], type(uint64).max);
        }
        requestFee = requestFee_;
        emit RequestFeeSet(requestFee_);
    }

    // --- Publishing ---------------------------------------------------------------------------------------

    function publish(uint64 asOf, uint64 asOfTime, bytes32[] calldata packed)
        external
        onlyPublisher
        onlyPast(asOf, asOfTime)
    {
        // No overflow: the time is at most block.timestamp.
        uint256 validUntil;
        unchecked {
            validUntil = uint256(asOfTime) + VALIDITY;
        }
        uint256 times = RecordCodec.times(asOf, asOfTime, validUntil);
        for (uint256 i; i < packed.length; ++i) {
            uint256 word;
            // In bounds by the loop's condition.
            assembly ("memory-safe") {
                word := calldataload(add(packed.offset, shl(5, i)))
            }
            uint256 grade = RecordCodec.isPlain(word) ? RecordCodec.gradeOf(word) : _checkedGrade(i, word);
            Slot storage slot;
            // `_records[walletOf(word)]`, of which nothing but the wallet is left after the shift.
            assembly ("memory-safe") {
                mstore(0, shr(96, word))
                mstore(0x20, _records.slot)
                slot.slot := keccak256(0, 0x40)
            }
            if (RecordCodec.isNewer(asOf, slot.record)) {
                slot.record = RecordCodec.toRecord(word, grade, times);
            }
        }
        _emitPublished(asOf, asOfTime, packed);
    }

    function publishSigned(Score calldata score, bytes calldata signature)
        external
        whenNotPaused
        onlyPast(score.asOf, score.asOfTime)
        returns (bool stored)
    {
        (uint64 asOf, uint64 asOfTime, uint64 validUntil) = (score.asOf, score.asOfTime, score.validUntil);
        _requireRelayable(asOfTime, validUntil);
        uint256 word = RecordCodec.pack(score);
        uint256 grade = RecordCodec.isPlain(word) ? RecordCodec.gradeOf(word) : _checkedGrade(0, word);
        address signer = _signerOf(scoreDigest(score), signature);

        Slot storage slot = _records[RecordCodec.walletOf(word)];
        if (!RecordCodec.isNewer(asOf, slot.record)) return false;
        slot.record = RecordCodec.toRecord(word, grade, RecordCodec.times(asOf, asOfTime, validUntil));
        emit ScoreRelayed(RecordCodec.walletOf(word), signer, asOf, asOfTime, validUntil, bytes32(word));
        return true;
    }

    function publishRoot(bytes32 root, uint64 epoch, string calldata uri) external onlyPublisher {
        if (root == bytes32(0)) revert EmptyRoot();
        uint64 latest = uint64(_gate >> 192);
        if (epoch <= latest) revert EpochNotNewer(epoch, latest);
        _gate = uint192(_gate) | uint256(epoch) << 192;
        _root = root;
        emit RootPublished(epoch, root, uri);
    }

    function requestScore(address wallet) external payable whenNotPaused {
        if (wallet == address(0)) revert ZeroAddress();
        if (msg.value != requestFee) revert WrongFee(msg.value, requestFee);
        emit ScoreRequested(wallet, msg.sender, msg.value);
    }

    // --- Reading ------------------------------------------------------------------------------------------

    /// @dev `calldata` in the two results below keeps the compiler from building an unused struct: both
    /// functions return the words themselves, at the free memory.
    function scoreOf(address wallet) external view returns (Record calldata record) {
        uint256 stored = _records[wallet].record;
        uint256 answer;
        assembly ("memory-safe") {
            record := 0
            answer := mload(0x40)
        }
        RecordCodec.write(answer, stored, block.timestamp);
        assembly ("memory-safe") {
            return(answer, 0x1c0)
        }
    }

    function scoresOf(address[] calldata wallets) external view returns (Record[] memory records) {
        records = new Record[](wallets.length);
        for (uint256 i; i < wallets.length; ++i) {
            records[i] = RecordCodec.decode(_records[wallets[i]].record, block.timestamp);
        }
    }

    function tryScoreOf(address wallet, uint256 maxAge)
        external
        view
        returns (Status status, Record calldata record)
    {
        uint256 stored = _records[wallet].record;
        status = _statusOf(stored, maxAge);
        uint256 answer;
        assembly ("memory-safe") {
            record := 0
            answer := mload(0x40)
            mstore(answer, status)
        }
        RecordCodec.write(answer + 0x20, stored, block.timestamp);
        assembly ("memory-safe") {
            return(answer, 0x1e0)
        }
    }

    function meetsThreshold(address wallet, uint256 minScore, uint256 maxAge) external view returns (bool) {
        uint256 stored = _records[wallet].record;
        return _statusOf(stored, maxAge) == Status.Scored
            && RecordCodec.flagsOf(stored) != RecordCodec.SANCTIONED
            && RecordCodec.scoreOf(stored) >= minScore;
    }

    /// @dev Both forms answer from the scratch space: the compiler would check anew that route and status are in range.
    function routeOf(address wallet, uint256 maxAge) external view returns (Route route, Status status) {
        uint256 stored = _records[wallet].record;
        status = _statusOf(stored, maxAge);
        route = _routeOf(stored, status);
        assembly ("memory-safe") {
            mstore(0, route)
            mstore(0x20, status)
            return(0, 0x40)
        }
    }

    function routeOf(address wallet, uint256 maxAge, uint256 amount)
        external
        view
        returns (Route route, Status status)
    {
        uint256 stored = _records[wallet].record;
        status = _statusOf(stored, maxAge);
        route = _routeOf(stored, status);
        uint256 safeAmount = RecordCodec.safeAmountOf(stored);
        // Escrow, 2, follows InstantSettle, 1.
        assembly ("memory-safe") {
            mstore(0, add(route, and(eq(route, 1), gt(amount, safeAmount))))
            mstore(0x20, status)
            return(0, 0x40)
        }
    }

    function scoreOfAgent(uint256 agentId) external view returns (address wallet, Record memory record) {
        wallet = IIdentityRegistry(identityRegistry).getAgentWallet(agentId);
        record = RecordCodec.decode(_records[wallet].record, block.timestamp);
    }

    function publisher() public view returns (address) {
        return address(uint160(_gate));
    }

    function paused() public view returns (bool) {
        return uint8(_gate >> 160) != 0;
    }

    function asOfFloor(address wallet) external view returns (uint64) {
        return uint64(RecordCodec.asOfOf(_records[wallet].record));
    }

    function verify(address wallet, bytes32 record, bytes32[] calldata proof) external view returns (bool) {
        bytes32 leaf = keccak256(bytes.concat(keccak256(abi.encode(wallet, record))));
        return MerkleProofLib.verifyCalldata(proof, _root, leaf);
    }

    function decodeRecord(bytes32 record) external view returns (Record memory) {
        return RecordCodec.decode(uint256(record), block.timestamp);
    }

    function latestRoot() external view returns (uint64 epoch, bytes32 root) {
        return (uint64(_gate >> 192), _root);
    }

    function scoreDigest(Score calldata score) public view returns (bytes32) {
        bytes32 typehash = SCORE_TYPEHASH;
        bytes32 structHash;
        // Calldata holds eleven static members as EIP-712 encodes them.
        assembly ("memory-safe") {
            let encoded := mload(0x40)
            mstore(encoded, typehash)
            calldatacopy(add(encoded, 0x20), score, 0x160)
            structHash := keccak256(encoded, 0x180)
        }
        return _hashTypedData(structHash);
    }

    function domainSeparator() external view returns (bytes32) {
        return _domainSeparator();
    }

    function signers() external view returns (address[] memory) {
        return _signers;
    }

    // --- Owner --------------------------------------------------------------------------------------------

    function invalidate(address[] calldata wallets) external onlyOwner {
        for (uint256 i; i < wallets.length; ++i) {
            Slot storage slot = _records[wallets[i]];
            slot.record = RecordCodec.floorOf(slot.record);
        }
        emit Invalidated(wallets);
    }

    function transferOwnership(address newOwner) external onlyOwner {
        pendingOwner = newOwner;
        emit OwnershipTransferStarted(owner, newOwner);
    }

    function acceptOwnership() external {
        if (msg.sender != pendingOwner) revert NotPendingOwner(msg.sender);
        emit OwnershipTransferred(owner, msg.sender);
        owner = msg.sender;
        delete pendingOwner;
    }

    function setPublisher(address newPublisher) external onlyOwner {
        _setPublisher(newPublisher);
    }

    function setSigner(address signer, uint64 until) external onlyOwner {
        _setSigner(signer, until);
    }

    function setPaused(bool newPaused) external onlyOwner {
        _gate = _gate & ~PAUSED | (newPaused ? PAUSED : 0);
        emit PausedSet(newPaused);
    }

    function setRequestFee(uint256 newFee) external onlyOwner {
        requestFee = newFee;
        emit RequestFeeSet(newFee);
    }

    function withdrawFees(address to) external onlyOwner {
        if (to == address(0)) revert ZeroAddress();
        uint256 amount = address(this).balance;
        emit FeesWithdrawn(to, amount);
        SafeTransferLib.safeTransferETH(to, amount);
    }

    // --- Inside -------------------------------------------------------------------------------------------

    function _refusePublisher() private view {
        if (msg.sender != publisher()) revert NotPublisher(msg.sender);
        revert WritesPaused();
    }

    function _refuseTimes(uint64 asOf, uint64 asOfTime) private view {
        if (asOf == 0 || asOf > block.number) revert InvalidAsOf(asOf, block.number);
        revert InvalidAsOfTime(asOfTime, block.timestamp);
    }

    function _requireRelayable(uint256 asOfTime, uint256 validUntil) private view {
        if (block.timestamp > validUntil) revert ScoreExpired(uint64(validUntil), block.timestamp);
        uint256 latest = asOfTime + VALIDITY;
        if (validUntil > latest) revert ValidityTooLong(uint64(validUntil), latest);
    }

    /// @dev The grade of any word, None when it is insufficient; reverts for a malformed one.
    function _checkedGrade(uint256 index, uint256 word) private pure returns (uint256) {
        RecordFault fault = RecordCodec.faultOf(word);
        if (fault != RecordFault.None) revert MalformedRecord(index, bytes32(word), fault);
        return RecordCodec.isInsufficient(word) ? 0 : RecordCodec.gradeOf(word);
    }

    /// @dev `emit Published(asOf, asOfTime, packed)` without a second check of the calldata: the array's length
    /// is right before its words.
    function _emitPublished(uint64 asOf, uint64 asOfTime, bytes32[] calldata packed) private {
        bytes32 topic = Published.selector;
        assembly ("memory-safe") {
            let data := mload(0x40)
            let tail := add(0x20, shl(5, packed.length))
            mstore(data, asOfTime)
            mstore(add(data, 0x20), 0x40)
            calldatacopy(add(data, 0x40), sub(packed.offset, 0x20), tail)
            log2(data, add(0x40, tail), topic, asOf)
        }
    }

    /// @dev Scored is 3, less 2 is Insufficient, less 1 is Stale, which precedes; without a record it is 0.
    function _statusOf(uint256 stored, uint256 maxAge) private view returns (Status status) {
        uint256 asOfTime = RecordCodec.asOfTimeOf(stored);
        bool stale = RecordCodec.ageOf(stored, block.timestamp) > maxAge;
        bool insufficient = RecordCodec.flagsOf(stored) == RecordCodec.INSUFFICIENT;
        assembly ("memory-safe") {
            let lack := or(stale, mul(iszero(stale), shl(1, insufficient)))
            status := mul(gt(asOfTime, 0), sub(3, lack))
        }
    }

    /// @dev Stale has no bit of a route set, Reject has all.
    function _routeOf(uint256 stored, Status status) private pure returns (Route route) {
        uint256 grade = RecordCodec.gradeIn(stored);
        bool stale = status == Status.Stale;
        bool sanctioned = RecordCodec.flagsOf(stored) == RecordCodec.SANCTIONED;
        assembly ("memory-safe") {
            route := or(mul(byte(grade, ROUTES), iszero(stale)), mul(3, sanctioned))
        }
    }

    /// @dev A key is found by recovery; a contract has to be asked, so those among the signers are, in turn.
    function _signerOf(bytes32 digest, bytes calldata signature) private view returns (address) {
        address recovered = ECDSA.tryRecoverCalldata(digest, signature);
        if (recovered != address(0) && block.timestamp <= signerUntil[recovered]) return recovered;
        for (uint256 i; i < _signers.length; ++i) {
            address signer = _signers[i];
            if (
                signer.code.length != 0 && block.timestamp <= signerUntil[signer]
                    && SignatureCheckerLib.isValidERC1271SignatureNowCalldata(signer, digest, signature)
            ) return signer;
        }
        revert InvalidSignature();
    }

    function _setPublisher(address newPublisher) private {
        if (newPublisher == address(0)) revert ZeroAddress();
        _gate = _gate >> 160 << 160 | uint160(newPublisher);
        emit PublisherSet(newPublisher);
    }

    function _setSigner(address signer, uint64 until) private {
        if (signer == address(0)) revert ZeroAddress();
        bool known = signerUntil[signer] != 0;
        if (!known && until != 0) {
            if (_signers.length == MAX_SIGNERS) revert TooManySigners(MAX_SIGNERS);
            _signers.push(signer);
        }
        if (known && until == 0) _removeSigner(signer);
        signerUntil[signer] = until;
        emit SignerSet(signer, until);
    }

    function _removeSigner(address signer) private {
        uint256 last = _signers.length - 1;
        for (uint256 i; i < last; ++i) {
            if (_signers[i] == signer) {
                _signers[i] = _signers[last];
                break;
            }
        }
        _signers.pop();
    }

    function _domainNameAndVersion() internal pure override returns (string memory, string memory) {
        return ("AgentHealthScore", "2");
    }
}
