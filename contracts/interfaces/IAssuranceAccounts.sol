// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

/// @title Bonds in USDC that pay the clients of rejected jobs
/// @notice One account for each wallet, after the assurance accounts of ERC-8210 (a draft). A wallet commits a part of its
/// bond to a job that it has submitted. A REJECT that the evaluator settled pays that part to the job's client, any other
/// end gives it back. No account has power over the money of others, and nothing can be paused or changed.
interface IAssuranceAccounts {
    // --- Types --------------------------------------------------------------------------------------------

    /// @notice Bond of a wallet; amounts in millionths of a USDC.
    /// @param available Neither committed nor unbonding: the part that can be committed.
    /// @param locked Sum of its active commitments.
    /// @param unbondedAt Unix seconds from which `unbonding` can be withdrawn; 0 without any.
    /// @param unbonding Requested for withdrawal.
    /// @param paidOut Sum of all that was slashed so far.
    struct Account {
        uint96 available;
        uint96 locked;
        uint64 unbondedAt;
        uint96 unbonding;
        uint96 paidOut;
    }

    enum CommitmentState {
        None,
        Active,
        Slashed,
        Released
    }

    /// @notice The part of a bond that is committed to one job; all zero for a job without.
    /// @param wallet The job's provider, whose bond it is.
    /// @param expiry Last second at which only the job's end releases it.
    /// @param client The job's client when it was committed.
    /// @param adapter Reads the job; the one that the evaluator had for the escrow then.
    struct Commitment {
        address wallet;
        uint64 expiry;
        CommitmentState state;
        address client;
        uint96 amount;
        address adapter;
    }

    // --- Events -------------------------------------------------------------------------------------------
    // `available` is what the wallet has available afterwards.

    event AssuranceDeposited(address indexed wallet, address indexed from, uint256 amount, uint256 available);

    event WithdrawalRequested(
        address indexed wallet, uint256 amount, uint256 unbonding, uint256 unbondedAt, uint256 available
    );

    event WithdrawalCancelled(address indexed wallet, uint256 amount, uint256 available);

    event AssuranceWithdrawn(address indexed wallet, address indexed to, uint256 amount);

    event JobCommitted(
        address indexed wallet,
        address indexed escrow,
        uint256 indexed jobId,
        address client,
        uint256 amount,
        uint256 expiry,
        uint256 available
    );

    event CommitmentReleased(
        address indexed wallet,
        address indexed escrow,
        uint256 indexed jobId,
        uint256 amount,
        uint256 available
    );

    event CommitmentSlashed(
        address indexed wallet, address indexed escrow, uint256 indexed jobId, address client, uint256 amount
    );

    // --- Errors -------------------------------------------------------------------------------------------

    error ZeroAddress();
    error ZeroAmount();
    error NoCode(address account);

    /// @notice More is asked for than the wallet has available.
    error AboveAvailable(uint256 amount, uint256 available);

    error NothingUnbonding(address wallet);
    error StillUnbonding(uint256 unbondedAt, uint256 timestamp);

    /// @notice The evaluator does not allow the escrow.
    error EscrowNotAllowed(address escrow);

    /// @notice The escrow's code is not what it was when the evaluator allowed it.
    error EscrowCodeChanged(address escrow, bytes32 expected, bytes32 actual);

    /// @notice The job names another evaluator.
    error OtherEvaluator(address escrow, uint256 jobId, address evaluator);

    /// @notice Only the job's provider commits its own bond.
    error NotProvider(address escrow, uint256 jobId, address provider);

    /// @notice The job is not in the state Submitted; the state is numbered as in ERC-8183.
    error JobNotSubmitted(address escrow, uint256 jobId, uint8 status);

    error JobOver(uint256 expiredAt, uint256 timestamp);

    /// @notice The job ends later than a withdrawal that is requested now would: no commitment outlasts the delay.
    error JobTooLong(uint256 expiredAt, uint256 latest);

    /// @notice A job has one commitment, whatever became of it.
    error AlreadyCommitted(address escrow, uint256 jobId);

    /// @notice The job has no commitment, or it was slashed or released.
    error NotCommitted(address escrow, uint256 jobId, CommitmentState state);

    /// @notice No REJECT of the evaluator has settled, or the escrow does not report the job as rejected.
    error NotRejected(address escrow, uint256 jobId, uint8 decision, uint8 status);

    /// @notice A REJECT settled: the commitment can only be slashed.
    error RejectSettled(address escrow, uint256 jobId);

    error JobStillOpen(address escrow, uint256 jobId, uint256 expiry);

    // --- Accounts -----------------------------------------------------------------------------------------

    /// @notice Adds to the caller's bond, taken from its allowance.
    function depositAssurance(uint256 amount) external;

    /// @notice Adds to the bond of another wallet, which alone can withdraw it.
    function depositAssuranceFor(address wallet, uint256 amount) external;

    /// @notice Begins to unbond available money. The delay begins again for all that is unbonding.
    function requestWithdrawal(uint256 amount) external;

    /// @notice Makes all that is unbonding available again.
    function cancelWithdrawal() external;

    /// @notice Sends all that has unbonded to an address of the caller's choice.
    function withdraw(address to) external;

    // --- Commitments --------------------------------------------------------------------------------------

    /// @notice Commits available money of the caller to a submitted job of which it is the provider, and which names the
    /// evaluator. A job that was not submitted yet is refused: no verdict comes of a job that is never submitted.
    function commitToJob(address escrow, uint256 jobId, uint256 amount) external;

    /// @notice Gives a commitment back to its wallet: once the job ended without a REJECT of the evaluator, or a day
    /// after the job's expiry. Anyone may call it.
    function releaseCommitment(address escrow, uint256 jobId) external;

    /// @notice Pays a commitment to the job's client, once: after the evaluator settled a REJECT and the escrow rejected
    /// the job. Anyone may call it, at any time.
    function slash(address escrow, uint256 jobId) external;

    // --- Reading ------------------------------------------------------------------------------------------

    function getAssuranceAccount(address wallet) external view returns (Account memory);
    function commitmentOf(address escrow, uint256 jobId) external view returns (Commitment memory);
    function usdc() external view returns (address);
    function evaluator() external view returns (address);

    /// @notice Seconds from a request to the withdrawal.
    function UNBONDING_DELAY() external view returns (uint256);

    /// @notice Seconds for which a commitment outlasts its job's expiry: the longest life of a verdict.
    function SETTLEMENT_GRACE() external view returns (uint256);
}
