// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {Ownable} from "solady/auth/Ownable.sol";
import {SafeTransferLib} from "solady/utils/SafeTransferLib.sol";
import {IACPHook} from "../../contracts/interfaces/IACPHook.sol";

/// @notice Job escrow in the shape of the code in the ERC-8183 text (generation G1).
contract JobEscrow is Ownable {
    using SafeTransferLib for address;

    enum JobStatus {
        Open,
        Funded,
        Submitted,
        Completed,
        Rejected,
        Expired
    }

    struct Job {
        uint256 id;
        address client;
        address provider;
        address evaluator;
        string description;
        uint256 budget;
        uint256 expiredAt;
        JobStatus status;
        address hook;
    }

    event JobCreated(
        uint256 indexed jobId,
        address indexed client,
        address indexed provider,
        address evaluator,
        uint256 expiredAt,
        address hook
    );
    event ProviderSet(uint256 indexed jobId, address indexed provider);
    event BudgetSet(uint256 indexed jobId, uint256 amount);
    event JobFunded(uint256 indexed jobId, address indexed client, uint256 amount);
    event JobSubmitted(uint256 indexed jobId, address indexed provider, bytes32 deliverable);
    event JobCompleted(uint256 indexed jobId, address indexed evaluator, bytes32 reason);
    event JobRejected(uint256 indexed jobId, address indexed rejector, bytes32 reason);
    event JobExpired(uint256 indexed jobId);
    event PaymentReleased(uint256 indexed jobId, address indexed provider, uint256 amount);
    event EvaluatorFeePaid(uint256 indexed jobId, address indexed evaluator, uint256 amount);
    event Refunded(uint256 indexed jobId, address indexed client, uint256 amount);
    event HookWhitelistUpdated(address indexed hook, bool allowed);

    error InvalidJob();
    error WrongStatus();
    error ZeroAddress();
    error ExpiryTooShort();
    error ZeroBudget();
    error ProviderNotSet();
    error FeesTooHigh();
    error HookNotWhitelisted();

    /// @notice Shortest life of a job, in seconds.
    uint256 public constant MIN_LIFE = 5 minutes;

    address public immutable paymentToken;
    address public immutable platformTreasury;
    uint256 public platformFeeBP;
    uint256 public evaluatorFeeBP;
    uint256 public jobCounter;
    mapping(uint256 jobId => Job job) private _jobs;
    mapping(address hook => bool allowed) public whitelistedHooks;

    constructor(address paymentToken_, address treasury_, address owner_) {
        if (paymentToken_ == address(0) || treasury_ == address(0)) revert ZeroAddress();
        paymentToken = paymentToken_;
        platformTreasury = treasury_;
        whitelistedHooks[address(0)] = true;
        _initializeOwner(owner_);
    }

    /// @notice Sets both fees in hundredths of a per cent, paid on completion only; owner only.
    function setFees(uint256 platformBP, uint256 evaluatorBP) external onlyOwner {
        if (platformBP + evaluatorBP > 10_000) revert FeesTooHigh();
        platformFeeBP = platformBP;
        evaluatorFeeBP = evaluatorBP;
    }

    /// @notice Allows or forbids a hook for new jobs; owner only.
    function setHookWhitelist(address hook, bool allowed) external onlyOwner {
        if (hook == address(0)) revert ZeroAddress();
        whitelistedHooks[hook] = allowed;
        emit HookWhitelistUpdated(hook, allowed);
    }

    /// @notice Opens a job; ids start at 1. The provider may be named later.
    function createJob(
        address provider,
        address evaluator,
        uint256 expiredAt,
        string calldata description,
        address hook
    ) external returns (uint256 jobId) {
        if (evaluator == address(0)) revert ZeroAddress();
        if (expiredAt <= block.timestamp + MIN_LIFE) revert ExpiryTooShort();
        if (!whitelistedHooks[hook]) revert HookNotWhitelisted();

        jobId = ++jobCounter;
        _jobs[jobId] =
            Job(jobId, msg.sender, provider, evaluator, description, 0, expiredAt, JobStatus.Open, hook);
        emit JobCreated(jobId, msg.sender, provider, evaluator, expiredAt, hook);
        _afterHook(hook, jobId, msg.sig, abi.encode(msg.sender, provider, evaluator));
    }

    /// @notice Names the provider of an open job that has none; client only.
    function setProvider(uint256 jobId, address provider) external {
        Job storage job = _open(jobId);
        if (msg.sender != job.client) revert Unauthorized();
        if (job.provider != address(0)) revert WrongStatus();
        if (provider == address(0)) revert ZeroAddress();
        job.provider = provider;
        emit ProviderSet(jobId, provider);
    }

    /// @notice Names the price of an open job; provider only.
    function setBudget(uint256 jobId, uint256 amount, bytes calldata optParams) external {
        Job storage job = _open(jobId);
        if (msg.sender != job.provider) revert Unauthorized();
        bytes memory data = abi.encode(msg.sender, amount, optParams);
        _beforeHook(job.hook, jobId, msg.sig, data);
        job.budget = amount;
        emit BudgetSet(jobId, amount);
        _afterHook(job.hook, jobId, msg.sig, data);
    }

    /// @notice Locks the budget, taken from the client's allowance; client only.
    function fund(uint256 jobId, bytes calldata optParams) external {
        Job storage job = _open(jobId);
        if (msg.sender != job.client) revert Unauthorized();
        if (job.provider == address(0)) revert ProviderNotSet();
        if (job.budget == 0) revert ZeroBudget();
        bytes memory data = abi.encode(msg.sender, optParams);
        _beforeHook(job.hook, jobId, msg.sig, data);
        job.status = JobStatus.Funded;
        emit JobFunded(jobId, job.client, job.budget);
        paymentToken.safeTransferFrom(job.client, address(this), job.budget);
        _afterHook(job.hook, jobId, msg.sig, data);
    }

    /// @notice Hands in the work of a funded job; provider only.
    function submit(uint256 jobId, bytes32 deliverable, bytes calldata optParams) external {
        Job storage job = _existing(jobId);
        if (job.status != JobStatus.Funded) revert WrongStatus();
        if (msg.sender != job.provider) revert Unauthorized();
        bytes memory data = abi.encode(msg.sender, deliverable, optParams);
        _beforeHook(job.hook, jobId, msg.sig, data);
        job.status = JobStatus.Submitted;
        emit JobSubmitted(jobId, job.provider, deliverable);
        _afterHook(job.hook, jobId, msg.sig, data);
    }

    /// @notice Accepts submitted work and pays the provider, less the fees; evaluator only.
    function complete(uint256 jobId, bytes32 reason, bytes calldata optParams) external {
        Job storage job = _existing(jobId);
        if (job.status != JobStatus.Submitted) revert WrongStatus();
        if (msg.sender != job.evaluator) revert Unauthorized();
        bytes memory data = abi.encode(msg.sender, reason, optParams);
        _beforeHook(job.hook, jobId, msg.sig, data);
        job.status = JobStatus.Completed;
        emit JobCompleted(jobId, job.evaluator, reason);
        _payOut(jobId, job);
        _afterHook(job.hook, jobId, msg.sig, data);
    }

    /// @notice Turns a job down: the client while it is open, the evaluator once funded; refunds what was locked.
    function reject(uint256 jobId, bytes32 reason, bytes calldata optParams) external {
        Job storage job = _existing(jobId);
        JobStatus status = job.status;
        bool funded = status == JobStatus.Funded || status == JobStatus.Submitted;
        if (!funded && status != JobStatus.Open) revert WrongStatus();
        if (msg.sender != (funded ? job.evaluator : job.client)) revert Unauthorized();
        bytes memory data = abi.encode(msg.sender, reason, optParams);
        _beforeHook(job.hook, jobId, msg.sig, data);
        job.status = JobStatus.Rejected;
        emit JobRejected(jobId, msg.sender, reason);
        if (funded) _refund(jobId, job);
        _afterHook(job.hook, jobId, msg.sig, data);
    }

    /// @notice Returns the locked budget of an expired job to its client; anyone may call it, no hook can stop it.
    function claimRefund(uint256 jobId) external {
        Job storage job = _existing(jobId);
        if (job.status != JobStatus.Funded && job.status != JobStatus.Submitted) revert WrongStatus();
        if (block.timestamp < job.expiredAt) revert WrongStatus();
        job.status = JobStatus.Expired;
        emit JobExpired(jobId);
        _refund(jobId, job);
    }

    /// @notice The whole job; all zero for an id never given.
    function getJob(uint256 jobId) external view returns (Job memory) {
        return _jobs[jobId];
    }

    function _payOut(uint256 jobId, Job storage job) private {
        uint256 platformFee = job.budget * platformFeeBP / 10_000;
        uint256 evaluatorFee = job.budget * evaluatorFeeBP / 10_000;
        uint256 net = job.budget - platformFee - evaluatorFee;
        if (platformFee > 0) paymentToken.safeTransfer(platformTreasury, platformFee);
        if (evaluatorFee > 0) {
            paymentToken.safeTransfer(job.evaluator, evaluatorFee);
            emit EvaluatorFeePaid(jobId, job.evaluator, evaluatorFee);
        }
        paymentToken.safeTransfer(job.provider, net);
        emit PaymentReleased(jobId, job.provider, net);
    }

    function _refund(uint256 jobId, Job storage job) private {
        paymentToken.safeTransfer(job.client, job.budget);
        emit Refunded(jobId, job.client, job.budget);
    }

    function _existing(uint256 jobId) private view returns (Job storage job) {
        job = _jobs[jobId];
        if (job.id == 0) revert InvalidJob();
    }

    function _open(uint256 jobId) private view returns (Job storage job) {
        job = _existing(jobId);
        if (job.status != JobStatus.Open) revert WrongStatus();
    }

    function _beforeHook(address hook, uint256 jobId, bytes4 selector, bytes memory data) private {
        if (hook != address(0)) IACPHook(hook).beforeAction(jobId, selector, data);
    }

    function _afterHook(address hook, uint256 jobId, bytes4 selector, bytes memory data) private {
        if (hook != address(0)) IACPHook(hook).afterAction(jobId, selector, data);
    }
}
