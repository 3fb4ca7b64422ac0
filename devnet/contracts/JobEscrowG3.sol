// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {Ownable} from "solady/auth/Ownable.sol";
import {SafeTransferLib} from "solady/utils/SafeTransferLib.sol";
import {IACPHook} from "../../contracts/interfaces/IACPHook.sol";

/// @notice Job escrow in the ABI of base-contracts' ERC8183 (generation G3): a token per job, hook data that begins
/// with the actor, an hour of grace for submitted jobs, a refund that hooks see. Milestone claims, payout receivers
/// and authorizations are left out.
contract JobEscrowG3 is Ownable {
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
        address client;
        JobStatus status;
        address provider;
        uint48 expiredAt;
        address evaluator;
        uint48 submittedAt;
        uint256 budget;
        address hook;
        address paymentToken;
        uint256 providerAgentId;
        string description;
        uint256 settledAmount;
        address payoutReceiver;
    }

    event JobCreated(
        uint256 indexed jobId,
        address indexed client,
        address indexed provider,
        address evaluator,
        uint48 expiredAt,
        address hook
    );
    event ProviderSet(
        uint256 indexed jobId, address indexed actor, address indexed provider, uint256 agentId
    );
    event BudgetSet(uint256 indexed jobId, address indexed token, uint256 amount);
    event JobFunded(uint256 indexed jobId, address indexed client, uint256 amount);
    event JobSubmitted(uint256 indexed jobId, address indexed provider, bytes32 deliverable);
    event JobCompleted(uint256 indexed jobId, address indexed evaluator, bytes32 reason);
    event JobRejected(uint256 indexed jobId, address indexed rejector, bytes32 reason);
    event JobExpired(uint256 indexed jobId);
    event PaymentReleased(uint256 indexed jobId, address indexed recipient, uint256 amount);
    event EvaluatorFeePaid(uint256 indexed jobId, address indexed evaluator, uint256 amount);
    event Refunded(uint256 indexed jobId, address indexed client, uint256 amount);
    event HookWhitelistUpdated(address indexed hook, bool status);
    event HookDetached(uint256 indexed jobId, address indexed hook);
    event PaymentTokenAllowlistUpdated(address indexed token, bool status);

    error InvalidJob();
    error InvalidHook();
    error WrongStatus();
    error ZeroAddress();
    error ExpiryTooShort();
    error ProviderNotSet();
    error FeesTooHigh();
    error HookNotWhitelisted();
    error BudgetMismatch();
    error PaymentTokenMismatch();
    error ProviderCannotBeEvaluator();
    error ClientCannotBeProvider();
    error GracePeriodActive();
    error PaymentTokenNotAllowed();

    /// @notice How long only the evaluator can end a submitted job after its expiry, in seconds.
    uint256 public constant EVALUATION_GRACE_PERIOD = 1 hours;

    /// @notice Shortest life of a job, in seconds.
    uint256 public constant MIN_LIFE = 5 minutes;

    address public immutable platformTreasury;
    uint256 public platformFeeBP;
    uint256 public evaluatorFeeBP;
    uint256 public jobCounter;
    mapping(uint256 jobId => Job job) private _jobs;
    mapping(address hook => bool allowed) public whitelistedHooks;
    mapping(address token => bool allowed) public allowedPaymentTokens;

    constructor(address paymentToken_, address treasury_, address owner_) {
        if (paymentToken_ == address(0) || treasury_ == address(0)) revert ZeroAddress();
        platformTreasury = treasury_;
        whitelistedHooks[address(0)] = true;
        allowedPaymentTokens[paymentToken_] = true;
        emit PaymentTokenAllowlistUpdated(paymentToken_, true);
        _initializeOwner(owner_);
    }

    /// @notice Sets both fees in hundredths of a per cent, paid on completion only; owner only.
    function setFees(uint256 platformBP, uint256 evaluatorBP) external onlyOwner {
        if (platformBP + evaluatorBP > 10_000) revert FeesTooHigh();
        platformFeeBP = platformBP;
        evaluatorFeeBP = evaluatorBP;
    }

    /// @notice Allows or forbids a hook for new jobs; owner only.
    function setHookWhitelist(address hook, bool status) external onlyOwner {
        if (hook == address(0)) revert ZeroAddress();
        whitelistedHooks[hook] = status;
        emit HookWhitelistUpdated(hook, status);
    }

    /// @notice Allows or forbids a token for budgets; owner only.
    function setPaymentTokenAllowed(address token, bool status) external onlyOwner {
        if (token == address(0)) revert ZeroAddress();
        allowedPaymentTokens[token] = status;
        emit PaymentTokenAllowlistUpdated(token, status);
    }

    /// @notice Takes the hooks off jobs, so that a hook that refuses everything cannot lock money up; owner only.
    function batchDetachHook(uint256[] calldata jobIds) external onlyOwner {
        for (uint256 i; i < jobIds.length; ++i) {
            Job storage job = _existing(jobIds[i]);
            emit HookDetached(jobIds[i], job.hook);
            job.hook = address(0);
        }
    }

    /// @notice Opens a job, as earlier states of base-contracts do; ids start at 1. The provider may be named later. No
    /// hook is called.
    function createJob(
        address provider,
        address evaluator,
        uint48 expiredAt,
        string calldata description,
        address hook,
        uint256 providerAgentId
    ) external returns (uint256 jobId) {
        jobId = _create(provider, evaluator, expiredAt, description, hook, providerAgentId);
    }

    /// @notice The same, as the newest state of base-contracts does: the hook is called afterwards.
    function createJob(
        address provider,
        address evaluator,
        uint48 expiredAt,
        string calldata description,
        address hook,
        uint256 providerAgentId,
        bytes calldata
    ) external returns (uint256 jobId) {
        jobId = _create(provider, evaluator, expiredAt, description, hook, providerAgentId);
        _afterHook(hook, jobId, abi.encode(msg.sender, provider, evaluator));
    }

    /// @notice Names the provider of an open job that has none; client only.
    function setProvider(uint256 jobId, address provider, uint256 agentId, bytes calldata optParams)
        external
    {
        Job storage job = _open(jobId);
        if (block.timestamp >= job.expiredAt) revert WrongStatus();
        if (msg.sender != job.client) revert Unauthorized();
        if (job.provider != address(0)) revert WrongStatus();
        if (provider == address(0)) revert ZeroAddress();
        if (provider == job.client) revert ClientCannotBeProvider();
        if (provider == job.evaluator) revert ProviderCannotBeEvaluator();
        bytes memory data = abi.encode(msg.sender, provider, agentId, optParams);
        _beforeHook(job.hook, jobId, data);
        job.provider = provider;
        job.providerAgentId = agentId;
        emit ProviderSet(jobId, msg.sender, provider, agentId);
        _afterHook(job.hook, jobId, data);
    }

    /// @notice Names the price of an open job and the token it is paid in; provider only.
    function setBudget(uint256 jobId, address token, uint256 amount, bytes calldata optParams) external {
        Job storage job = _open(jobId);
        if (block.timestamp >= job.expiredAt) revert WrongStatus();
        if (msg.sender != job.provider) revert Unauthorized();
        if (token == address(0)) revert ZeroAddress();
        if (!allowedPaymentTokens[token]) revert PaymentTokenNotAllowed();
        bytes memory data = abi.encode(msg.sender, token, amount, optParams);
        _beforeHook(job.hook, jobId, data);
        job.paymentToken = token;
        job.budget = amount;
        emit BudgetSet(jobId, token, amount);
        _afterHook(job.hook, jobId, data);
    }

    /// @notice Locks the budget, taken from the client's allowance; client only, who says what it expects to pay.
    function fund(uint256 jobId, address expectedToken, uint256 expectedBudget, bytes calldata optParams)
        external
    {
        Job storage job = _open(jobId);
        if (msg.sender != job.client) revert Unauthorized();
        if (job.provider == address(0)) revert ProviderNotSet();
        if (block.timestamp >= job.expiredAt) revert WrongStatus();
        if (job.paymentToken != expectedToken) revert PaymentTokenMismatch();
        if (job.budget != expectedBudget) revert BudgetMismatch();
        bytes memory data = abi.encode(msg.sender, optParams);
        _beforeHook(job.hook, jobId, data);
        job.status = JobStatus.Funded;
        if (job.budget > 0) job.paymentToken.safeTransferFrom(msg.sender, address(this), job.budget);
        emit JobFunded(jobId, msg.sender, job.budget);
        _afterHook(job.hook, jobId, data);
    }

    /// @notice Hands in the work of a funded job, or of an open one without a budget; provider only.
    function submit(uint256 jobId, bytes32 deliverable, bytes calldata optParams) external {
        Job storage job = _existing(jobId);
        bool free = job.status == JobStatus.Open && job.budget == 0;
        if (job.status != JobStatus.Funded && !free) revert WrongStatus();
        if (block.timestamp >= job.expiredAt) revert WrongStatus();
        if (msg.sender != job.provider) revert Unauthorized();
        bytes memory data = abi.encode(msg.sender, deliverable, optParams);
        _beforeHook(job.hook, jobId, data);
        job.status = JobStatus.Submitted;
        job.submittedAt = uint48(block.timestamp);
        emit JobSubmitted(jobId, msg.sender, deliverable);
        _afterHook(job.hook, jobId, data);
    }

    /// @notice Accepts submitted work and pays the provider, less the fees; evaluator only.
    function complete(uint256 jobId, bytes32 reason, bytes calldata optParams) external {
        Job storage job = _existing(jobId);
        if (job.status != JobStatus.Submitted) revert WrongStatus();
        if (msg.sender != job.evaluator) revert Unauthorized();
        bytes memory data = abi.encode(msg.sender, reason, optParams);
        _beforeHook(job.hook, jobId, data);
        job.status = JobStatus.Completed;
        _payOut(jobId, job);
        emit JobCompleted(jobId, msg.sender, reason);
        _afterHook(job.hook, jobId, data);
    }

    /// @notice Turns a job down: client or provider while it is open, the evaluator once funded; refunds what was locked.
    function reject(uint256 jobId, bytes32 reason, bytes calldata optParams) external {
        Job storage job = _existing(jobId);
        JobStatus status = job.status;
        bool funded = status == JobStatus.Funded || status == JobStatus.Submitted;
        if (!funded && status != JobStatus.Open) revert WrongStatus();
        bool party = msg.sender == job.client || msg.sender == job.provider;
        if (funded ? msg.sender != job.evaluator : !party) revert Unauthorized();
        bytes memory data = abi.encode(msg.sender, reason, optParams);
        _beforeHook(job.hook, jobId, data);
        job.status = JobStatus.Rejected;
        if (funded) _refund(jobId, job);
        emit JobRejected(jobId, msg.sender, reason);
        _afterHook(job.hook, jobId, data);
    }

    /// @notice Ends an expired job and returns what was locked to its client; anyone may call it, a hook can stop it.
    function claimRefund(uint256 jobId, bytes calldata optParams) external {
        Job storage job = _existing(jobId);
        JobStatus status = job.status;
        if (status > JobStatus.Submitted) revert WrongStatus();
        bool submitted = status == JobStatus.Submitted;
        if (submitted && block.timestamp < job.expiredAt + EVALUATION_GRACE_PERIOD) {
            revert GracePeriodActive();
        }
        if (block.timestamp < job.expiredAt) revert WrongStatus();
        bytes memory data = abi.encode(msg.sender, optParams);
        _beforeHook(job.hook, jobId, data);
        job.status = JobStatus.Expired;
        if (status != JobStatus.Open) _refund(jobId, job);
        emit JobExpired(jobId);
        _afterHook(job.hook, jobId, data);
    }

    /// @notice The whole job; all zero for an id never given.
    function getJob(uint256 jobId) external view returns (Job memory) {
        return _jobs[jobId];
    }

    function _create(
        address provider,
        address evaluator,
        uint48 expiredAt,
        string calldata description,
        address hook,
        uint256 providerAgentId
    ) private returns (uint256 jobId) {
        if (expiredAt <= block.timestamp + MIN_LIFE) revert ExpiryTooShort();
        if (msg.sender == provider) revert ClientCannotBeProvider();
        if (evaluator == address(0)) revert ZeroAddress();
        if (evaluator == provider) revert ProviderCannotBeEvaluator();
        _requireHook(hook);

        jobId = ++jobCounter;
        Job storage job = _jobs[jobId];
        (job.client, job.provider, job.evaluator, job.hook) = (msg.sender, provider, evaluator, hook);
        job.expiredAt = expiredAt;
        job.description = description;
        job.providerAgentId = provider == address(0) ? 0 : providerAgentId;
        emit JobCreated(jobId, msg.sender, provider, evaluator, expiredAt, hook);
    }

    function _payOut(uint256 jobId, Job storage job) private {
        if (job.budget == 0) return;
        uint256 platformFee = job.budget * platformFeeBP / 10_000;
        uint256 evaluatorFee = job.budget * evaluatorFeeBP / 10_000;
        uint256 net = job.budget - platformFee - evaluatorFee;
        if (platformFee > 0) job.paymentToken.safeTransfer(platformTreasury, platformFee);
        if (evaluatorFee > 0) {
            job.paymentToken.safeTransfer(job.evaluator, evaluatorFee);
            emit EvaluatorFeePaid(jobId, job.evaluator, evaluatorFee);
        }
        job.paymentToken.safeTransfer(job.provider, net);
        emit PaymentReleased(jobId, job.provider, net);
    }

    function _refund(uint256 jobId, Job storage job) private {
        if (job.budget == 0) return;
        job.paymentToken.safeTransfer(job.client, job.budget);
        emit Refunded(jobId, job.client, job.budget);
    }

    function _requireHook(address hook) private view {
        if (!whitelistedHooks[hook]) revert HookNotWhitelisted();
        if (hook == address(0)) return;
        if (!IACPHook(hook).supportsInterface(type(IACPHook).interfaceId)) revert InvalidHook();
    }

    function _existing(uint256 jobId) private view returns (Job storage job) {
        job = _jobs[jobId];
        if (job.client == address(0)) revert InvalidJob();
    }

    function _open(uint256 jobId) private view returns (Job storage job) {
        job = _existing(jobId);
        if (job.status != JobStatus.Open) revert WrongStatus();
    }

    function _beforeHook(address hook, uint256 jobId, bytes memory data) private {
        if (hook != address(0)) IACPHook(hook).beforeAction(jobId, msg.sig, data);
    }

    function _afterHook(address hook, uint256 jobId, bytes memory data) private {
        if (hook != address(0)) IACPHook(hook).afterAction(jobId, msg.sig, data);
    }
}
