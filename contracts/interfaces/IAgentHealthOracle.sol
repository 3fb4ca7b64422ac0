// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

/// @title Agent Health Score oracle of one chain
/// @notice Holds the newest published Agent Health Score of a wallet in one storage slot. Anyone reads, nothing
/// that is read ever reverts for being paused, old or unknown: each of these is an answer.
interface IAgentHealthOracle {
    // --- Types --------------------------------------------------------------------------------------------

    /// @notice Letter of a score; None stands for no record and for an insufficient history.
    enum Grade {
        None,
        A,
        B,
        C,
        D,
        E,
        F
    }

    /// @notice What the oracle can say of a wallet at a given age limit. The order of precedence is NoRecord,
    /// Stale, Insufficient, Scored.
    enum Status {
        NoRecord,
        Insufficient,
        Stale,
        Scored
    }

    /// @notice Default routing of a payment. Stale is no decision: the caller chooses what age it can bear.
    enum Route {
        Stale,
        InstantSettle,
        Escrow,
        Reject
    }

    /// @notice The first fault of a malformed record.
    enum RecordFault {
        None,
        ZeroWallet,
        ScoreAbove100,
        ConfidenceAbove10000,
        UnknownFlags,
        ReservedBitsSet,
        InsufficientWithSanction,
        InsufficientWithScore,
        SafeAmountNotCanonical,
        SanctionedWithSafeAmount
    }

    /// @notice A published score as readers see it; all zero when there is no record.
    /// @param exists False for a wallet never published or invalidated since.
    /// @param score 0 to 100; means nothing while `insufficient`.
    /// @param d1 Wallet hygiene, 0 to 100.
    /// @param d2 Behavioural patterns, 0 to 100.
    /// @param grade Letter of `score`; None while `insufficient`.
    /// @param confidence Basis points, 0 to 10000.
    /// @param sanctioned The wallet is on a sanctions list.
    /// @param insufficient Too little history to score: absence of evidence, not evidence of risk.
    /// @param modelVersion Year times ten plus revision: AHS-2026.0 is 20260.
    /// @param asOf Block up to which the inputs reach.
    /// @param asOfTime Timestamp of that block, in seconds.
    /// @param validUntil Last second at which the record could be relayed; it does not limit reading.
    /// @param age Seconds from `asOfTime` to now.
    /// @param safeAmount Greatest amount to settle with the wallet at once, in millionths of a US dollar: what its own
    /// costs back, rounded down, before what others have outstanding with it. It is the same the next day, whatever was
    /// delivered. Zero when unknown or sanctioned.
    struct Record {
        bool exists;
        uint8 score;
        uint8 d1;
        uint8 d2;
        Grade grade;
        uint16 confidence;
        bool sanctioned;
        bool insufficient;
        uint16 modelVersion;
        uint64 asOf;
        uint64 asOfTime;
        uint64 validUntil;
        uint64 age;
        uint256 safeAmount;
    }

    /// @notice A score as a signer attests it (EIP-712 primary type `Score`).
    /// @param flags Bit 0 sanctioned, bit 1 insufficient; never both.
    /// @param safe Safe amount as the published word has it: see `publish`.
    struct Score {
        address wallet;
        uint8 score;
        uint8 d1;
        uint8 d2;
        uint16 confidence;
        uint8 flags;
        uint16 modelVersion;
        uint64 asOf;
        uint64 asOfTime;
        uint64 validUntil;
        uint16 safe;
    }

    // --- Events -------------------------------------------------------------------------------------------

    /// @notice A batch by the publisher. A word whose as-of is not above the wallet's stored one was skipped.
    event Published(uint64 indexed asOf, uint64 asOfTime, bytes32[] packed);

    /// @notice A signed score replaced the wallet's record.
    event ScoreRelayed(
        address indexed wallet,
        address indexed signer,
        uint64 asOf,
        uint64 asOfTime,
        uint64 validUntil,
        bytes32 packed
    );

    /// @notice The Merkle root of the whole population replaced the previous one.
    event RootPublished(uint64 indexed epoch, bytes32 root, string uri);

    /// @notice A caller asks for a wallet to be scored from now on.
    event ScoreRequested(address indexed wallet, address indexed requester, uint256 fee);

    /// @notice The records of these wallets were cleared; their as-of floors stay.
    event Invalidated(address[] wallets);

    event OwnershipTransferStarted(address indexed owner, address indexed pendingOwner);
    event OwnershipTransferred(address indexed previousOwner, address indexed owner);
    event PublisherSet(address indexed publisher);

    /// @notice `until` is the last second at which the signer's scores are accepted; 0 removes it.
    event SignerSet(address indexed signer, uint64 until);

    event PausedSet(bool paused);
    event RequestFeeSet(uint256 fee);
    event FeesWithdrawn(address indexed to, uint256 amount);

    // --- Errors -------------------------------------------------------------------------------------------

    error NotOwner(address caller);
    error NotPendingOwner(address caller);
    error NotPublisher(address caller);
    error WritesPaused();
    error ZeroAddress();

    /// @notice As-of must be between block 1 and the current block.
    error InvalidAsOf(uint64 asOf, uint256 currentBlock);

    /// @notice As-of time must be between second 1 and now.
    error InvalidAsOfTime(uint64 asOfTime, uint256 currentTime);

    /// @notice The word at `index` (0 for a relayed score) breaks the packing.
    error MalformedRecord(uint256 index, bytes32 packed, RecordFault fault);

    error ScoreExpired(uint64 validUntil, uint256 currentTime);
    error ValidityTooLong(uint64 validUntil, uint256 latestAllowed);

    /// @notice No current signer signed this score.
    error InvalidSignature();

    error TooManySigners(uint256 most);
    error EmptyRoot();
    error EpochNotNewer(uint64 epoch, uint64 latest);
    error WrongFee(uint256 given, uint256 expected);

    // --- Publishing ---------------------------------------------------------------------------------------

    /// @notice Stores a batch of scores that share one as-of; only the publisher.
    /// @dev Each word, from the highest bit: wallet 160, score 8, d1 8, d2 8, confidence 16, flags 8,
    /// modelVersion 16, safe amount 16, zero 16. The safe amount is an exponent e of 5 bits and a mantissa m of 11:
    /// m << e US cents. Where e is above zero, m is at least 1024; a sanctioned wallet has none. A word not newer than
    /// the stored record is skipped. One malformed word reverts the batch.
    function publish(uint64 asOf, uint64 asOfTime, bytes32[] calldata packed) external;

    /// @notice Stores a score that a current signer signed; anyone may relay it.
    /// @dev 65-byte and EIP-2098 signatures of a key, or whatever an ERC-1271 signer accepts.
    /// @return stored False, with nothing changed, when the wallet's record is as new or newer: a relay that was
    /// overtaken does not break the transaction it is part of.
    function publishSigned(Score calldata score, bytes calldata signature) external returns (bool stored);

    /// @notice Replaces the Merkle root of the whole population; only the publisher, epochs only rise.
    /// @param uri Where the list of leaves can be downloaded.
    function publishRoot(bytes32 root, uint64 epoch, string calldata uri) external;

    /// @notice Asks for a wallet to be scored from now on, for exactly `requestFee` wei.
    function requestScore(address wallet) external payable;

    // --- Reading ------------------------------------------------------------------------------------------

    /// @notice The wallet's record; `exists` is false without a record.
    function scoreOf(address wallet) external view returns (Record memory record);

    /// @notice The records of many wallets, in order.
    function scoresOf(address[] calldata wallets) external view returns (Record[] memory records);

    /// @notice The record with what it is worth at an age limit in seconds.
    function tryScoreOf(address wallet, uint256 maxAge)
        external
        view
        returns (Status status, Record memory record);

    /// @notice True only for a scored, unsanctioned wallet of at least `minScore` no older than `maxAge` seconds.
    function meetsThreshold(address wallet, uint256 minScore, uint256 maxAge) external view returns (bool);

    /// @notice Default routing: A and B settle at once, C escrows, D to F reject, no record or an insufficient
    /// history escrows. A sanctioned wallet is rejected at any age; else past `maxAge` the route is Stale.
    function routeOf(address wallet, uint256 maxAge) external view returns (Route route, Status status);

    /// @notice The default routing of a payment of an amount: where `routeOf(wallet, maxAge)` settles at once, an
    /// amount above the record's `safeAmount` escrows. An amount up to it, and every other route, stay as they are.
    /// @param amount Millionths of a US dollar: USDC's smallest unit.
    function routeOf(address wallet, uint256 maxAge, uint256 amount)
        external
        view
        returns (Route route, Status status);

    /// @notice The record of the wallet that an ERC-8004 agent names now; a zero wallet has no record.
    /// @dev Reverts as the registry does for an agent it does not know.
    function scoreOfAgent(uint256 agentId) external view returns (address wallet, Record memory record);

    /// @notice Newest as-of ever stored for the wallet; an invalidation does not lower it.
    function asOfFloor(address wallet) external view returns (uint64);

    /// @notice True when (wallet, record) is a leaf of the latest root.
    /// @param record The record as it is stored in the wallet's slot: see `decodeRecord`.
    /// @dev leaf = keccak256(bytes.concat(keccak256(abi.encode(wallet, record)))), pairs hashed in sorted order.
    function verify(address wallet, bytes32 record, bytes32[] calldata proof) external view returns (bool);

    /// @notice Reads a stored record or a Merkle leaf's record.
    /// @dev From the highest bit: score 8, d1 8, d2 8, confidence 16, flags 8, modelVersion 16,
    /// safe amount 16, grade 8, zero 24, asOf 48, asOfTime 48, validUntil 48.
    function decodeRecord(bytes32 record) external view returns (Record memory);

    /// @notice The latest epoch and its root; zero before the first.
    function latestRoot() external view returns (uint64 epoch, bytes32 root);

    /// @notice EIP-712 digest that a signer signs for this score.
    function scoreDigest(Score calldata score) external view returns (bytes32);

    function domainSeparator() external view returns (bytes32);

    // --- Roles --------------------------------------------------------------------------------------------

    function owner() external view returns (address);
    function pendingOwner() external view returns (address);
    function publisher() external view returns (address);
    function paused() external view returns (bool);
    function requestFee() external view returns (uint256);

    /// @notice ERC-8004 identity registry that `scoreOfAgent` asks.
    function identityRegistry() external view returns (address);

    /// @notice Every signer not removed, whether its time has ended or not.
    function signers() external view returns (address[] memory);

    /// @notice Last second at which the signer's scores are accepted; 0 for a stranger.
    function signerUntil(address signer) external view returns (uint64);

    /// @notice Clears records, keeping each wallet's as-of floor; only the owner, also while paused.
    function invalidate(address[] calldata wallets) external;

    /// @notice Offers the ownership; zero withdraws an offer.
    function transferOwnership(address newOwner) external;

    /// @notice Takes an offered ownership.
    function acceptOwnership() external;

    function setPublisher(address newPublisher) external;

    /// @notice Adds, limits or removes a signer. Rotation overlaps: add the new one, let the old one end later.
    /// @param until Last second at which its scores are accepted; 0 removes it, the largest value never ends.
    function setSigner(address signer, uint64 until) external;

    /// @notice Stops or resumes publishing, relaying and requesting; reads go on.
    function setPaused(bool newPaused) external;

    function setRequestFee(uint256 newFee) external;

    /// @notice Sends all collected fees.
    function withdrawFees(address to) external;
}
