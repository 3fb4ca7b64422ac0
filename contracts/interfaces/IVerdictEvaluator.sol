// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

/// @title Evaluator of ERC-8183 jobs that acts on signed verdicts
/// @notice A job names this contract as its evaluator. Anyone brings a verdict that a current signer signed: ALLOW
/// completes the job, REJECT rejects it, once and for all; HOLD is put on record and moves nothing.
/// @dev What cannot be seen from here is checked by the signer: that the deliverable is the one submitted, and that
/// a proxy still points to the implementation that was reviewed.
interface IVerdictEvaluator {
    // --- Types --------------------------------------------------------------------------------------------

    /// @notice A verdict as it is signed, by EIP-712.
    /// @param deliverable What the job's JobSubmitted event carries.
    /// @param specHash Hash of the specification that the output was judged by.
    /// @param decision 1 ALLOW, 2 REJECT, 3 HOLD.
    /// @param score 0 to 100.
    /// @param confidenceBps 0 to 10000.
    /// @param evidenceHash keccak256 of the evidence document; the escrow's `reason`.
    /// @param issuedAt Unix seconds at which it was signed.
    /// @param deadline Last second at which it may be brought, at most 24 hours after `issuedAt`.
    struct Verdict {
        address escrow;
        uint256 jobId;
        bytes32 deliverable;
        bytes32 specHash;
        uint8 decision;
        uint16 score;
        uint16 confidenceBps;
        bytes32 evidenceHash;
        uint64 issuedAt;
        uint64 deadline;
    }

    /// @notice An allowed escrow.
    /// @param adapter Reads its jobs; zero for an escrow that is not allowed.
    /// @param codeHash Hash of the code it had when it was allowed.
    struct Escrow {
        address adapter;
        bytes32 codeHash;
    }

    /// @notice The newest HOLD of a job; all zero without one.
    /// @param issuedAt When its verdict was signed.
    /// @param reviewBy Time by which a reviewer should have decided; the contract does nothing at that time.
    struct Hold {
        bytes32 evidenceHash;
        uint64 issuedAt;
        uint64 reviewBy;
    }

    // --- Events -------------------------------------------------------------------------------------------

    /// @notice The evaluator asked the escrow to complete (1) or to reject (2) the job.
    event VerdictSettled(
        address indexed escrow, uint256 indexed jobId, uint8 decision, uint16 score, bytes32 evidenceHash
    );

    /// @notice A HOLD was put on record; the escrow was not touched.
    event HoldRecorded(address indexed escrow, uint256 indexed jobId, bytes32 evidenceHash, uint64 reviewBy);

    /// @notice An escrow was allowed with the code it has, or removed when `adapter` is zero.
    event EscrowSet(address indexed escrow, address indexed adapter, bytes32 codeHash);

    /// @notice A signer's last second; 0 when it was removed.
    event SignerSet(address indexed signer, uint64 until);

    event FeesWithdrawn(address indexed token, address indexed to, uint256 amount);
    event OwnershipTransferStarted(address indexed previousOwner, address indexed newOwner);
    event OwnershipTransferred(address indexed previousOwner, address indexed newOwner);

    // --- Errors -------------------------------------------------------------------------------------------

    error NotOwner(address caller);
    error NotPendingOwner(address caller);
    error ZeroAddress();
    error NoCode(address account);
    error TooManySigners(uint256 limit);
    error Reentered();

    /// @notice The escrow is not on the list of allowed ones.
    error EscrowNotAllowed(address escrow);

    /// @notice The escrow's code is not what it was when it was allowed.
    error EscrowCodeChanged(address escrow, bytes32 expected, bytes32 actual);

    /// @notice The verdict is for another job than the one asked for.
    error OtherJob(address escrow, uint256 jobId);

    /// @notice `settle` takes 1 and 2, `hold` takes 3.
    error WrongDecision(uint8 decision);

    error IssuedInFuture(uint64 issuedAt, uint256 timestamp);
    error VerdictExpired(uint64 deadline, uint256 timestamp);
    error DeadlineTooLate(uint64 deadline, uint256 latest);

    /// @notice No current signer signed this verdict for this contract on this chain.
    error InvalidSignature();

    /// @notice A terminal verdict of this job was carried out already.
    error AlreadySettled(address escrow, uint256 jobId, uint8 decision);

    /// @notice A HOLD as new or newer is on record.
    error HoldNotNewer(uint64 issuedAt, uint64 recorded);

    /// @notice The job is not in the state Submitted; the state is numbered as in ERC-8183.
    error JobNotSubmitted(address escrow, uint256 jobId, uint8 status);

    /// @notice The job names another evaluator.
    error OtherEvaluator(address escrow, uint256 jobId, address evaluator);

    /// @notice The job had expired when the HOLD was signed: there is no time left for a review.
    error JobOver(uint256 expiredAt, uint64 issuedAt);

    /// @notice The escrow took the call and the job did not end as decided.
    error EscrowDidNotAct(address escrow, uint256 jobId, uint8 status);

    // --- Verdicts -----------------------------------------------------------------------------------------

    /// @notice Completes or rejects a submitted job with the evidence's hash as reason; anyone may call it. A failure
    /// of the escrow undoes everything, and the same verdict can be brought again until its deadline.
    function settle(address escrow, uint256 jobId, Verdict calldata verdict, bytes calldata signature)
        external;

    /// @notice Puts a HOLD of a submitted job on record and never touches the escrow; anyone may call it. A newer one
    /// replaces it, a terminal verdict ends it.
    function hold(address escrow, uint256 jobId, Verdict calldata verdict, bytes calldata signature) external;

    // --- Reading ------------------------------------------------------------------------------------------

    /// @notice What was carried out for a job: 1 completed, 2 rejected, 0 nothing.
    function decisionOf(address escrow, uint256 jobId) external view returns (uint8);

    /// @notice The newest HOLD of a job.
    function holdOf(address escrow, uint256 jobId) external view returns (Hold memory);

    /// @notice How an escrow was allowed; all zero for a stranger.
    function escrowOf(address escrow) external view returns (Escrow memory);

    /// @notice What a signer signs, by EIP-712.
    function verdictDigest(Verdict calldata verdict) external view returns (bytes32);

    function domainSeparator() external view returns (bytes32);

    /// @notice Every signer not removed, whether its time has ended or not.
    function signers() external view returns (address[] memory);

    /// @notice Last second at which the signer's verdicts are accepted; 0 for a stranger.
    function signerUntil(address signer) external view returns (uint64);

    function owner() external view returns (address);
    function pendingOwner() external view returns (address);

    // --- Owner --------------------------------------------------------------------------------------------

    /// @notice Allows an escrow with the code it has now and the adapter of its generation; adapter zero removes it.
    /// There is no pause: removing the escrows, or the signers, stops everything.
    function setEscrow(address escrow, address adapter) external;

    /// @notice Adds, limits or removes a signer. Rotation overlaps: add the new one, let the old one end later.
    /// @param until Last second at which its verdicts are accepted; 0 removes it, the largest value never ends.
    function setSigner(address signer, uint64 until) external;

    /// @notice Sends all of a token that escrows paid to this contract as their evaluator.
    function withdrawFees(address token, address to) external;

    /// @notice Offers the ownership; zero withdraws an offer.
    function transferOwnership(address newOwner) external;

    /// @notice Takes an offered ownership.
    function acceptOwnership() external;
}
