// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {ECDSA} from "solady/utils/ECDSA.sol";
import {EIP712} from "solady/utils/EIP712.sol";
import {SafeTransferLib} from "solady/utils/SafeTransferLib.sol";
import {SignatureCheckerLib} from "solady/utils/SignatureCheckerLib.sol";

import {IJobEscrow} from "./interfaces/IJobEscrow.sol";
import {IJobEscrowAdapter} from "./interfaces/IJobEscrowAdapter.sol";
import {IVerdictEvaluator} from "./interfaces/IVerdictEvaluator.sol";

/// @title VerdictEvaluator
/// @dev Invariants: one terminal escrow call per job, and a failed call leaves the verdict usable; HOLD never moves
/// escrow. An adapter reads by static call and is chosen by the owner.
contract VerdictEvaluator is IVerdictEvaluator, EIP712 {
    uint8 private constant ALLOW = 1;
    uint8 private constant REJECT = 2;
    uint8 private constant HOLD = 3;

    /// @dev Bounds what a stolen or forgotten signature is good for.
    uint64 private constant MAX_LIFE = 24 hours;

    /// @dev Bounds the search for an ERC-1271 signer.
    uint256 private constant MAX_SIGNERS = 8;

    bytes32 private constant VERDICT_TYPEHASH = keccak256(
        "Verdict(address escrow,uint256 jobId,bytes32 deliverable,bytes32 specHash,uint8 decision,uint16 score,uint16 confidenceBps,bytes32 evidenceHash,uint64 issuedAt,uint64 deadline)"
    );

    address public owner;
    address public pendingOwner;
    bool private transient _entered;
    address[] private _signers;

    mapping(address signer => uint64) public signerUntil;
    mapping(address escrow => Escrow) private _escrows;
    mapping(address escrow => mapping(uint256 jobId => uint8)) public decisionOf;
    mapping(address escrow => mapping(uint256 jobId => Hold)) private _holds;

    modifier onlyOwner() {
        if (msg.sender != owner) revert NotOwner(msg.sender);
        _;
    }

    modifier nonReentrant() {
        if (_entered) revert Reentered();
        _entered = true;
        _;
        _entered = false;
    }

    constructor(address owner_, address[] memory signers_) {
        if (owner_ == address(0)) revert ZeroAddress();
        owner = owner_;
        emit OwnershipTransferred(address(0), owner_);
        for (uint256 i; i < signers_.length; ++i) {
            _setSigner(signers_[i], type(uint64).max);
        }
    }

    // --- Verdicts -----------------------------------------------------------------------------------------

    function settle(address escrow, uint256 jobId, Verdict calldata verdict, bytes calldata signature)
        external
        nonReentrant
    {
        uint8 decision = verdict.decision;
        if (decision != ALLOW && decision != REJECT) revert WrongDecision(decision);
        address adapter = _requireAllowed(escrow);
        _requireAuthentic(escrow, jobId, verdict, signature);
        _requireUndecided(escrow, jobId);
        _requireSubmitted(adapter, escrow, jobId);

        decisionOf[escrow][jobId] = decision;
        emit VerdictSettled(escrow, jobId, decision, verdict.score, verdict.evidenceHash);

        if (decision == ALLOW) IJobEscrow(escrow).complete(jobId, verdict.evidenceHash, "");
        else IJobEscrow(escrow).reject(jobId, verdict.evidenceHash, "");
        _requireEnded(adapter, escrow, jobId, decision);
    }

    function hold(address escrow, uint256 jobId, Verdict calldata verdict, bytes calldata signature)
        external
        nonReentrant
    {
        if (verdict.decision != HOLD) revert WrongDecision(verdict.decision);
        address adapter = _requireAllowed(escrow);
        _requireAuthentic(escrow, jobId, verdict, signature);
        _requireUndecided(escrow, jobId);
        uint256 expiredAt = _requireSubmitted(adapter, escrow, jobId);

        Hold storage held = _holds[escrow][jobId];
        uint64 issuedAt = verdict.issuedAt;
        if (issuedAt <= held.issuedAt) revert HoldNotNewer(issuedAt, held.issuedAt);
        uint64 reviewBy = _reviewBy(issuedAt, expiredAt);
        (held.evidenceHash, held.issuedAt, held.reviewBy) = (verdict.evidenceHash, issuedAt, reviewBy);
        emit HoldRecorded(escrow, jobId, verdict.evidenceHash, reviewBy);
    }

    // --- Reading ------------------------------------------------------------------------------------------

    function holdOf(address escrow, uint256 jobId) external view returns (Hold memory) {
        return _holds[escrow][jobId];
    }

    function escrowOf(address escrow) external view returns (Escrow memory) {
        return _escrows[escrow];
    }

    /// @dev The members are static, so that abi.encode writes them as EIP-712 does.
    function verdictDigest(Verdict calldata verdict) public view returns (bytes32) {
        return _hashTypedData(keccak256(abi.encode(VERDICT_TYPEHASH, verdict)));
    }

    function domainSeparator() external view returns (bytes32) {
        return _domainSeparator();
    }

    function signers() external view returns (address[] memory) {
        return _signers;
    }

    // --- Owner --------------------------------------------------------------------------------------------

    function setEscrow(address escrow, address adapter) external onlyOwner {
        if (adapter == address(0)) {
            delete _escrows[escrow];
            emit EscrowSet(escrow, address(0), bytes32(0));
            return;
        }
        if (escrow.code.length == 0) revert NoCode(escrow);
        if (adapter.code.length == 0) revert NoCode(adapter);
        _escrows[escrow] = Escrow(adapter, escrow.codehash);
        emit EscrowSet(escrow, adapter, escrow.codehash);
    }

    function setSigner(address signer, uint64 until) external onlyOwner {
        _setSigner(signer, until);
    }

    function withdrawFees(address token, address to) external onlyOwner {
        if (to == address(0)) revert ZeroAddress();
        uint256 amount = SafeTransferLib.safeTransferAll(token, to);
        emit FeesWithdrawn(token, to, amount);
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

    // --- Inside -------------------------------------------------------------------------------------------

    function _requireAllowed(address escrow) private view returns (address adapter) {
        adapter = _escrows[escrow].adapter;
        if (adapter == address(0)) revert EscrowNotAllowed(escrow);
        bytes32 expected = _escrows[escrow].codeHash;
        bytes32 actual = escrow.codehash;
        if (actual != expected) revert EscrowCodeChanged(escrow, expected, actual);
    }

    function _requireAuthentic(
        address escrow,
        uint256 jobId,
        Verdict calldata verdict,
        bytes calldata signature
    ) private view {
        (uint64 issuedAt, uint64 deadline) = (verdict.issuedAt, verdict.deadline);
        if (verdict.escrow != escrow) revert OtherJob(verdict.escrow, verdict.jobId);
        if (verdict.jobId != jobId) revert OtherJob(verdict.escrow, verdict.jobId);
        if (issuedAt > block.timestamp) revert IssuedInFuture(issuedAt, block.timestamp);
        if (deadline < block.timestamp) revert VerdictExpired(deadline, block.timestamp);
        uint256 latest = uint256(issuedAt) + MAX_LIFE;
        if (deadline > latest) revert DeadlineTooLate(deadline, latest);
        if (!_isSigned(verdictDigest(verdict), signature)) revert InvalidSignature();
    }

    function _requireUndecided(address escrow, uint256 jobId) private view {
        uint8 decision = decisionOf[escrow][jobId];
        if (decision != 0) revert AlreadySettled(escrow, jobId, decision);
    }

    function _requireSubmitted(address adapter, address escrow, uint256 jobId)
        private
        view
        returns (uint256 expiredAt)
    {
        IJobEscrowAdapter.Job memory job = IJobEscrowAdapter(adapter).readJob(escrow, jobId);
        bool submitted = job.status == IJobEscrowAdapter.JobStatus.Submitted;
        if (!submitted) revert JobNotSubmitted(escrow, jobId, uint8(job.status));
        if (job.evaluator != address(this)) revert OtherEvaluator(escrow, jobId, job.evaluator);
        return job.expiredAt;
    }

    /// @dev A call that changes nothing, such as to an emptied proxy, must not use the verdict up.
    function _requireEnded(address adapter, address escrow, uint256 jobId, uint8 decision) private view {
        IJobEscrowAdapter.JobStatus status = IJobEscrowAdapter(adapter).readJob(escrow, jobId).status;
        IJobEscrowAdapter.JobStatus wanted =
            decision == ALLOW ? IJobEscrowAdapter.JobStatus.Completed : IJobEscrowAdapter.JobStatus.Rejected;
        if (status != wanted) revert EscrowDidNotAct(escrow, jobId, uint8(status));
    }

    /// @dev When a quarter of the time from the verdict to the job's expiry is left; the last moment of uint64 for
    /// an expiry beyond it.
    function _reviewBy(uint64 issuedAt, uint256 expiredAt) private pure returns (uint64) {
        if (expiredAt <= issuedAt) revert JobOver(expiredAt, issuedAt);
        uint256 reviewBy = expiredAt - (expiredAt - issuedAt) / 4;
        return reviewBy > type(uint64).max ? type(uint64).max : uint64(reviewBy);
    }

    /// @dev A key is found by recovery; a contract has to be asked, so those among the signers are, in turn.
    function _isSigned(bytes32 digest, bytes calldata signature) private view returns (bool) {
        address recovered = ECDSA.tryRecoverCalldata(digest, signature);
        if (recovered != address(0) && block.timestamp <= signerUntil[recovered]) return true;
        for (uint256 i; i < _signers.length; ++i) {
            address signer = _signers[i];
            if (
                signer.code.length != 0 && block.timestamp <= signerUntil[signer]
                    && SignatureCheckerLib.isValidERC1271SignatureNowCalldata(signer, digest, signature)
            ) return true;
        }
        return false;
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
        return ("Agent Health Verdicts", "1");
    }
}
