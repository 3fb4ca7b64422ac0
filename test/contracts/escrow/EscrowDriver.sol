// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {Vm} from "@prb/test/Vm.sol";

import {IJobEscrowAdapter} from "../../../contracts/interfaces/IJobEscrowAdapter.sol";
import {JobAdapterG1} from "../../../contracts/escrow/JobAdapterG1.sol";
import {JobAdapterG3} from "../../../contracts/escrow/JobAdapterG3.sol";
import {JobAdapterV3} from "../../../contracts/escrow/JobAdapterV3.sol";
import {JobEscrow} from "../../../devnet/contracts/JobEscrow.sol";
import {JobEscrowG3} from "../../../devnet/contracts/JobEscrowG3.sol";
import {JobEscrowV3} from "../../../devnet/contracts/JobEscrowV3.sol";
import {UsdCoin} from "../../../devnet/contracts/UsdCoin.sol";

/// @dev Takes an escrow of one generation through the steps that all generations have, for any actor. Adding a
/// generation is adding a driver: every suite that takes drivers then covers it.
abstract contract EscrowDriver {
    Vm internal constant vm = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));
    address public constant TREASURY = address(0x7E);

    UsdCoin public immutable usdc;
    IJobEscrowAdapter public immutable adapter;
    address public immutable escrow;

    constructor(UsdCoin usdc_, IJobEscrowAdapter adapter_, address escrow_) {
        (usdc, adapter, escrow) = (usdc_, adapter_, escrow_);
    }

    function read(uint256 jobId) public view returns (IJobEscrowAdapter.Job memory) {
        return adapter.readJob(escrow, jobId);
    }

    function statusOf(uint256 jobId) external view returns (IJobEscrowAdapter.JobStatus) {
        return read(jobId).status;
    }

    function submit(uint256 jobId, bytes32 deliverable) external {
        address provider = read(jobId).provider;
        vm.prank(provider);
        JobEscrow(escrow).submit(jobId, deliverable, "");
    }

    function completeAs(address caller, uint256 jobId) external {
        vm.prank(caller);
        JobEscrow(escrow).complete(jobId, "ours", "");
    }

    function rejectAs(address caller, uint256 jobId) external {
        vm.prank(caller);
        JobEscrow(escrow).reject(jobId, "ours", "");
    }

    /// @dev The escrow's owner is the driver.
    function allowHook(address hook) external {
        JobEscrow(escrow).setHookWhitelist(hook, true);
    }

    function setFees(uint256 platformBP, uint256 evaluatorBP) external {
        JobEscrow(escrow).setFees(platformBP, evaluatorBP);
    }

    function create(address client, address provider, address evaluator, uint256 expiredAt, address hook)
        external
        virtual
        returns (uint256 jobId);

    function setProvider(uint256 jobId, address provider) external virtual;

    function setBudget(uint256 jobId, uint256 amount) external virtual;

    /// @dev Mints and approves what the job costs.
    function fund(uint256 jobId) external virtual;

    /// @dev The first moment at which anyone can end a submitted job.
    function endOf(uint256 jobId) external view virtual returns (uint256);

    function claimRefund(uint256 jobId) external virtual;

    function _equip(address client, uint256 budget) internal {
        address owner = usdc.owner();
        vm.prank(owner);
        usdc.mint(client, budget);
        vm.prank(client);
        usdc.approve(escrow, budget);
    }
}

contract DriverG1 is EscrowDriver {
    constructor(UsdCoin usdc_)
        EscrowDriver(
            usdc_, new JobAdapterG1(), address(new JobEscrow(address(usdc_), TREASURY, address(this)))
        )
    {}

    function create(address client, address provider, address evaluator, uint256 expiredAt, address hook)
        external
        override
        returns (uint256)
    {
        vm.prank(client);
        return JobEscrow(escrow).createJob(provider, evaluator, expiredAt, "work", hook);
    }

    function setProvider(uint256 jobId, address provider) external override {
        address client = read(jobId).client;
        vm.prank(client);
        JobEscrow(escrow).setProvider(jobId, provider);
    }

    function setBudget(uint256 jobId, uint256 amount) external override {
        address provider = read(jobId).provider;
        vm.prank(provider);
        JobEscrow(escrow).setBudget(jobId, amount, "");
    }

    function fund(uint256 jobId) external override {
        IJobEscrowAdapter.Job memory job = read(jobId);
        _equip(job.client, job.budget);
        vm.prank(job.client);
        JobEscrow(escrow).fund(jobId, "");
    }

    function endOf(uint256 jobId) external view override returns (uint256) {
        return read(jobId).expiredAt;
    }

    function claimRefund(uint256 jobId) external override {
        JobEscrow(escrow).claimRefund(jobId);
    }
}

contract DriverG3 is EscrowDriver {
    constructor(UsdCoin usdc_)
        EscrowDriver(
            usdc_, new JobAdapterG3(), address(new JobEscrowG3(address(usdc_), TREASURY, address(this)))
        )
    {}

    function create(address client, address provider, address evaluator, uint256 expiredAt, address hook)
        external
        override
        returns (uint256)
    {
        vm.prank(client);
        return JobEscrowG3(escrow).createJob(provider, evaluator, uint48(expiredAt), "work", hook, 7);
    }

    function setProvider(uint256 jobId, address provider) external override {
        address client = read(jobId).client;
        vm.prank(client);
        JobEscrowG3(escrow).setProvider(jobId, provider, 7, "");
    }

    function setBudget(uint256 jobId, uint256 amount) external override {
        address provider = read(jobId).provider;
        vm.prank(provider);
        JobEscrowG3(escrow).setBudget(jobId, address(usdc), amount, "");
    }

    function fund(uint256 jobId) external override {
        IJobEscrowAdapter.Job memory job = read(jobId);
        _equip(job.client, job.budget);
        vm.prank(job.client);
        JobEscrowG3(escrow).fund(jobId, address(usdc), job.budget, "");
    }

    function endOf(uint256 jobId) external view override returns (uint256) {
        return read(jobId).expiredAt + 1 hours;
    }

    function claimRefund(uint256 jobId) external override {
        JobEscrowG3(escrow).claimRefund(jobId, "");
    }
}

contract DriverV3 is EscrowDriver {
    constructor(UsdCoin usdc_)
        EscrowDriver(
            usdc_, new JobAdapterV3(), address(new JobEscrowV3(address(usdc_), TREASURY, address(this)))
        )
    {}

    function create(address client, address provider, address evaluator, uint256 expiredAt, address hook)
        external
        override
        returns (uint256)
    {
        vm.prank(client);
        return JobEscrowV3(escrow).createJob(provider, evaluator, expiredAt, "work", hook);
    }

    function setProvider(uint256 jobId, address provider) external override {
        address client = read(jobId).client;
        vm.prank(client);
        JobEscrowV3(escrow).setProvider(jobId, provider);
    }

    function setBudget(uint256 jobId, uint256 amount) external override {
        address provider = read(jobId).provider;
        vm.prank(provider);
        JobEscrowV3(escrow).setBudget(jobId, amount, "");
    }

    function fund(uint256 jobId) external override {
        IJobEscrowAdapter.Job memory job = read(jobId);
        _equip(job.client, job.budget);
        vm.prank(job.client);
        JobEscrowV3(escrow).fund(jobId, job.budget, "");
    }

    function endOf(uint256 jobId) external view override returns (uint256) {
        return read(jobId).expiredAt;
    }

    function claimRefund(uint256 jobId) external override {
        JobEscrowV3(escrow).claimRefund(jobId);
    }
}
