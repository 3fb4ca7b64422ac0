// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {SafeCastLib} from "solady/utils/SafeCastLib.sol";
import {SafeTransferLib} from "solady/utils/SafeTransferLib.sol";

import {IAssuranceAccounts} from "./interfaces/IAssuranceAccounts.sol";
import {IJobEscrowAdapter} from "./interfaces/IJobEscrowAdapter.sol";
import {IVerdictEvaluator} from "./interfaces/IVerdictEvaluator.sol";

/// @title AssuranceAccounts
/// @dev Invariants: a commitment is slashed at most once, and only after a settled REJECT; no account gives more than it
/// has; the contract holds what all accounts add up to; no commitment outlasts the delay of a withdrawal. Money moves last
/// on the way out and first on the way in, so that a call from inside the token finds all accounts settled.
contract AssuranceAccounts is IAssuranceAccounts {
    using SafeCastLib for uint256;
    using SafeTransferLib for address;

    uint256 public constant UNBONDING_DELAY = 30 days;
    uint256 public constant SETTLEMENT_GRACE = 1 days;

    uint8 private constant REJECT = 2;

    address public immutable usdc;
    address public immutable evaluator;

    mapping(address wallet => Account) private _accounts;
    mapping(address escrow => mapping(uint256 jobId => Commitment)) private _commitments;

    constructor(address usdc_, address evaluator_) {
        if (usdc_.code.length == 0) revert NoCode(usdc_);
        if (evaluator_.code.length == 0) revert NoCode(evaluator_);
        (usdc, evaluator) = (usdc_, evaluator_);
    }

    // --- Accounts -----------------------------------------------------------------------------------------

    function depositAssurance(uint256 amount) external {
        _deposit(msg.sender, amount);
    }

    function depositAssuranceFor(address wallet, uint256 amount) external {
        if (wallet == address(0)) revert ZeroAddress();
        _deposit(wallet, amount);
    }

    function requestWithdrawal(uint256 amount) external {
        Account storage account = _accounts[msg.sender];
        uint96 part = _requireAvailable(account, amount);

        account.available -= part;
        account.unbonding += part;
        account.unbondedAt = (block.timestamp + UNBONDING_DELAY).toUint64();
        emit WithdrawalRequested(msg.sender, amount, account.unbonding, account.unbondedAt, account.available);
    }

    function cancelWithdrawal() external {
        Account storage account = _accounts[msg.sender];
        uint96 amount = _requireUnbonding(account);

        account.available += amount;
        (account.unbonding, account.unbondedAt) = (0, 0);
        emit WithdrawalCancelled(msg.sender, amount, account.available);
    }

    function withdraw(address to) external {
        if (to == address(0)) revert ZeroAddress();
        Account storage account = _accounts[msg.sender];
        uint96 amount = _requireUnbonding(account);
        if (block.timestamp < account.unbondedAt) revert StillUnbonding(account.unbondedAt, block.timestamp);

        (account.unbonding, account.unbondedAt) = (0, 0);
        emit AssuranceWithdrawn(msg.sender, to, amount);
        usdc.safeTransfer(to, amount);
    }

    // --- Commitments --------------------------------------------------------------------------------------

    function commitToJob(address escrow, uint256 jobId, uint256 amount) external {
        Account storage account = _accounts[msg.sender];
        uint96 part = _requireAvailable(account, amount);
        if (_commitments[escrow][jobId].state != CommitmentState.None) {
            revert AlreadyCommitted(escrow, jobId);
        }
        address adapter = _requireAllowed(escrow);
        IJobEscrowAdapter.Job memory job = IJobEscrowAdapter(adapter).readJob(escrow, jobId);
        _requireCoverable(escrow, jobId, job);

        uint256 expiry = job.expiredAt + SETTLEMENT_GRACE;
        account.available -= part;
        account.locked += part;
        _commitments[escrow][jobId] =
            Commitment(msg.sender, expiry.toUint64(), CommitmentState.Active, job.client, part, adapter);
        emit JobCommitted(msg.sender, escrow, jobId, job.client, amount, expiry, account.available);
    }

    function releaseCommitment(address escrow, uint256 jobId) external {
        Commitment storage commitment = _requireActive(escrow, jobId);
        if (_decisionOf(escrow, jobId) == REJECT) revert RejectSettled(escrow, jobId);
        uint64 expiry = commitment.expiry;
        // Past it the escrow is not asked: it may have failed for good.
        if (block.timestamp <= expiry) _requireEnded(commitment.adapter, escrow, jobId, expiry);

        (address wallet, uint96 amount) = (commitment.wallet, commitment.amount);
        commitment.state = CommitmentState.Released;
        Account storage account = _accounts[wallet];
        account.locked -= amount;
        account.available += amount;
        emit CommitmentReleased(wallet, escrow, jobId, amount, account.available);
    }

    function slash(address escrow, uint256 jobId) external {
        Commitment storage commitment = _requireActive(escrow, jobId);
        _requireRejected(commitment.adapter, escrow, jobId);

        (address wallet, address client, uint96 amount) =
            (commitment.wallet, commitment.client, commitment.amount);
        commitment.state = CommitmentState.Slashed;
        Account storage account = _accounts[wallet];
        account.locked -= amount;
        account.paidOut += amount;
        emit CommitmentSlashed(wallet, escrow, jobId, client, amount);
        usdc.safeTransfer(client, amount);
    }

    // --- Reading ------------------------------------------------------------------------------------------

    function getAssuranceAccount(address wallet) external view returns (Account memory) {
        return _accounts[wallet];
    }

    function commitmentOf(address escrow, uint256 jobId) external view returns (Commitment memory) {
        return _commitments[escrow][jobId];
    }

    // --- Inside -------------------------------------------------------------------------------------------

    function _deposit(address wallet, uint256 amount) private {
        if (amount == 0) revert ZeroAmount();
        usdc.safeTransferFrom(msg.sender, address(this), amount);

        Account storage account = _accounts[wallet];
        account.available += amount.toUint96();
        emit AssuranceDeposited(wallet, msg.sender, amount, account.available);
    }

    function _requireAvailable(Account storage account, uint256 amount) private view returns (uint96) {
        if (amount == 0) revert ZeroAmount();
        uint96 available = account.available;
        if (amount > available) revert AboveAvailable(amount, available);
        return uint96(amount);
    }

    function _requireUnbonding(Account storage account) private view returns (uint96 amount) {
        amount = account.unbonding;
        if (amount == 0) revert NothingUnbonding(msg.sender);
    }

    function _requireAllowed(address escrow) private view returns (address) {
        IVerdictEvaluator.Escrow memory allowed = IVerdictEvaluator(evaluator).escrowOf(escrow);
        if (allowed.adapter == address(0)) revert EscrowNotAllowed(escrow);
        bytes32 actual = escrow.codehash;
        if (actual != allowed.codeHash) revert EscrowCodeChanged(escrow, allowed.codeHash, actual);
        return allowed.adapter;
    }

    function _requireCoverable(address escrow, uint256 jobId, IJobEscrowAdapter.Job memory job) private view {
        if (job.evaluator != evaluator) revert OtherEvaluator(escrow, jobId, job.evaluator);
        if (job.provider != msg.sender) revert NotProvider(escrow, jobId, job.provider);
        bool submitted = job.status == IJobEscrowAdapter.JobStatus.Submitted;
        if (!submitted) revert JobNotSubmitted(escrow, jobId, uint8(job.status));
        if (job.expiredAt <= block.timestamp) revert JobOver(job.expiredAt, block.timestamp);
        uint256 latest = block.timestamp + UNBONDING_DELAY - SETTLEMENT_GRACE;
        if (job.expiredAt > latest) revert JobTooLong(job.expiredAt, latest);
    }

    function _requireActive(address escrow, uint256 jobId)
        private
        view
        returns (Commitment storage commitment)
    {
        commitment = _commitments[escrow][jobId];
        CommitmentState state = commitment.state;
        if (state != CommitmentState.Active) revert NotCommitted(escrow, jobId, state);
    }

    /// @dev The evaluator's word alone is not enough: the escrow must have given the client its budget back.
    function _requireRejected(address adapter, address escrow, uint256 jobId) private view {
        uint8 decision = _decisionOf(escrow, jobId);
        uint8 status = uint8(_statusOf(adapter, escrow, jobId));
        bool rejected = status == uint8(IJobEscrowAdapter.JobStatus.Rejected);
        if (decision != REJECT || !rejected) revert NotRejected(escrow, jobId, decision, status);
    }

    function _requireEnded(address adapter, address escrow, uint256 jobId, uint64 expiry) private view {
        bool open = _statusOf(adapter, escrow, jobId) <= IJobEscrowAdapter.JobStatus.Submitted;
        if (open) revert JobStillOpen(escrow, jobId, expiry);
    }

    function _decisionOf(address escrow, uint256 jobId) private view returns (uint8) {
        return IVerdictEvaluator(evaluator).decisionOf(escrow, jobId);
    }

    function _statusOf(address adapter, address escrow, uint256 jobId)
        private
        view
        returns (IJobEscrowAdapter.JobStatus)
    {
        return IJobEscrowAdapter(adapter).readJob(escrow, jobId).status;
    }
}
