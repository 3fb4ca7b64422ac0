// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {PRBTest} from "@prb/test/PRBTest.sol";
import {Ownable} from "solady/auth/Ownable.sol";

import {JobEscrow} from "../../../devnet/contracts/JobEscrow.sol";
import {UsdCoin} from "../../../devnet/contracts/UsdCoin.sol";
import {HookOfTests} from "../../contracts/escrow/HookOfTests.sol";

contract JobEscrowTest is PRBTest {
    address private constant CLIENT = address(0xC1);
    address private constant PROVIDER = address(0xB2);
    address private constant EVALUATOR = address(0xE3);
    address private constant TREASURY = address(0x7E);
    address private constant STRANGER = address(0x5717);
    uint256 private constant BUDGET = 100e6;
    bytes32 private constant WORK = keccak256("work");
    bytes32 private constant REASON = keccak256("reason");

    UsdCoin private usdc;
    JobEscrow private escrow;

    function setUp() external {
        vm.warp(1_790_000_000);
        usdc = new UsdCoin(address(this));
        escrow = new JobEscrow(address(usdc), TREASURY, address(this));
        usdc.mint(CLIENT, 1_000e6);
        vm.prank(CLIENT);
        usdc.approve(address(escrow), type(uint256).max);
    }

    function test_TheSelectorsAreThoseOfTheErcText() external {
        assertEq(bytes32(JobEscrow.createJob.selector), bytes32(bytes4(0x41528812)));
        assertEq(bytes32(JobEscrow.setProvider.selector), bytes32(bytes4(0xd0fae591)));
        assertEq(bytes32(JobEscrow.setBudget.selector), bytes32(bytes4(0xdd4ae9d4)));
        assertEq(bytes32(JobEscrow.fund.selector), bytes32(bytes4(0xe25ba707)));
        assertEq(bytes32(JobEscrow.submit.selector), bytes32(bytes4(0x9e63798d)));
        assertEq(bytes32(JobEscrow.complete.selector), bytes32(bytes4(0xd75bbdf3)));
        assertEq(bytes32(JobEscrow.reject.selector), bytes32(bytes4(0x41dd26f5)));
        assertEq(bytes32(JobEscrow.claimRefund.selector), bytes32(bytes4(0x5b7baf64)));
        assertEq(bytes32(JobEscrow.getJob.selector), bytes32(bytes4(0xbf22c457)));
    }

    function test_ACompletedJobPaysTheProviderLessTheFees() external {
        escrow.setFees(500, 250);
        uint256 jobId = _submitted();
        vm.prank(EVALUATOR);
        escrow.complete(jobId, REASON, "");

        assertEq(uint256(escrow.getJob(jobId).status), uint256(JobEscrow.JobStatus.Completed));
        assertEq(usdc.balanceOf(TREASURY), 5e6);
        assertEq(usdc.balanceOf(EVALUATOR), 2.5e6);
        assertEq(usdc.balanceOf(PROVIDER), 92.5e6);
        assertEq(usdc.balanceOf(address(escrow)), 0);
    }

    function test_ARejectedJobRefundsTheClientWithoutFees() external {
        escrow.setFees(500, 250);
        uint256 jobId = _submitted();
        vm.prank(EVALUATOR);
        escrow.reject(jobId, REASON, "");
        assertEq(uint256(escrow.getJob(jobId).status), uint256(JobEscrow.JobStatus.Rejected));
        assertEq(usdc.balanceOf(CLIENT), 1_000e6);
    }

    function test_TheEvaluatorMayRejectBeforeAnyDeliveryAndTheClientBeforeFunding() external {
        uint256 funded = _funded();
        vm.prank(EVALUATOR);
        escrow.reject(funded, REASON, "");
        assertEq(usdc.balanceOf(CLIENT), 1_000e6);

        uint256 open = _created();
        vm.prank(EVALUATOR);
        vm.expectRevert(Ownable.Unauthorized.selector);
        escrow.reject(open, REASON, "");
        vm.prank(CLIENT);
        escrow.reject(open, REASON, "");
        assertEq(uint256(escrow.getJob(open).status), uint256(JobEscrow.JobStatus.Rejected));
    }

    function test_AnyoneReturnsTheMoneyOfAnExpiredJob() external {
        uint256 jobId = _submitted();
        uint256 expiry = escrow.getJob(jobId).expiredAt;
        vm.warp(expiry - 1);
        vm.expectRevert(JobEscrow.WrongStatus.selector);
        escrow.claimRefund(jobId);
        vm.warp(expiry);
        vm.prank(STRANGER);
        escrow.claimRefund(jobId);
        assertEq(uint256(escrow.getJob(jobId).status), uint256(JobEscrow.JobStatus.Expired));
        assertEq(usdc.balanceOf(CLIENT), 1_000e6);
    }

    function test_AnOpenJobHasNothingToRefund() external {
        uint256 jobId = _priced();
        vm.warp(block.timestamp + 30 days);
        vm.expectRevert(JobEscrow.WrongStatus.selector);
        escrow.claimRefund(jobId);
    }

    function test_EveryStepIsItsOwnersAlone() external {
        uint256 jobId = _created();
        _refused(abi.encodeCall(JobEscrow.setBudget, (jobId, BUDGET, "")));
        _refused(abi.encodeCall(JobEscrow.fund, (jobId, "")));
        _refused(abi.encodeCall(JobEscrow.setProvider, (jobId, STRANGER)));
        _refused(abi.encodeCall(JobEscrow.reject, (jobId, REASON, "")));
        jobId = _funded();
        _refused(abi.encodeCall(JobEscrow.submit, (jobId, WORK, "")));
        _refused(abi.encodeCall(JobEscrow.reject, (jobId, REASON, "")));
        jobId = _submitted();
        _refused(abi.encodeCall(JobEscrow.complete, (jobId, REASON, "")));
    }

    function testFuzz_NoTransitionBesidesThoseOfTheTextExists(uint8 status, uint8 step) external {
        uint256 from = status % 6;
        uint256 jobId = _inStatus(from);
        (address actor, bytes memory data, uint256 allowedFrom) = _step(jobId, step % 5);
        vm.prank(actor);
        (bool ok, bytes memory result) = address(escrow).call(data);
        assertEq(ok, (allowedFrom >> from) & 1 == 1);
        if (!ok) assertEq(bytes32(result), bytes32(JobEscrow.WrongStatus.selector));
    }

    function test_AJobNeedsAProviderAndAPriceToBeFunded() external {
        vm.startPrank(CLIENT);
        uint256 jobId = escrow.createJob(address(0), EVALUATOR, block.timestamp + 1 days, "", address(0));
        vm.expectRevert(JobEscrow.ProviderNotSet.selector);
        escrow.fund(jobId, "");
        escrow.setProvider(jobId, PROVIDER);
        vm.expectRevert(JobEscrow.ZeroBudget.selector);
        escrow.fund(jobId, "");
        vm.expectRevert(JobEscrow.WrongStatus.selector);
        escrow.setProvider(jobId, STRANGER);
    }

    function test_WhatAJobMayNotBeCreatedWith() external {
        vm.startPrank(CLIENT);
        vm.expectRevert(JobEscrow.ZeroAddress.selector);
        escrow.createJob(PROVIDER, address(0), block.timestamp + 1 days, "", address(0));
        vm.expectRevert(JobEscrow.ExpiryTooShort.selector);
        escrow.createJob(PROVIDER, EVALUATOR, block.timestamp + 5 minutes, "", address(0));
        vm.expectRevert(JobEscrow.HookNotWhitelisted.selector);
        escrow.createJob(PROVIDER, EVALUATOR, block.timestamp + 1 days, "", STRANGER);
        vm.expectRevert(JobEscrow.InvalidJob.selector);
        escrow.fund(77, "");
    }

    function test_AHookSeesEveryStepButTheRefund() external {
        HookOfTests hook = new HookOfTests();
        escrow.setHookWhitelist(address(hook), true);
        vm.prank(CLIENT);
        uint256 jobId = escrow.createJob(PROVIDER, EVALUATOR, block.timestamp + 1 days, "", address(hook));
        assertEq(hook.count(), 1);
        assertEq(hook.lastData(), abi.encode(CLIENT, PROVIDER, EVALUATOR));

        vm.prank(PROVIDER);
        escrow.setBudget(jobId, BUDGET, hex"aa");
        assertEq(hook.lastData(), abi.encode(PROVIDER, BUDGET, hex"aa"));
        vm.prank(CLIENT);
        escrow.fund(jobId, "");
        assertEq(hook.count(), 5);

        hook.block_(true);
        vm.prank(PROVIDER);
        vm.expectRevert("hook says no");
        escrow.submit(jobId, WORK, "");
        vm.warp(block.timestamp + 1 days);
        escrow.claimRefund(jobId);
        assertEq(usdc.balanceOf(CLIENT), 1_000e6);
    }

    function test_FeesTogetherTakeTheWholeAtMost() external {
        vm.expectRevert(JobEscrow.FeesTooHigh.selector);
        escrow.setFees(9_000, 1_001);
    }

    /// @dev The step with its rightful actor and the statuses it is allowed from, one bit each.
    function _step(uint256 jobId, uint256 step) private view returns (address, bytes memory, uint256) {
        uint256 status = uint256(escrow.getJob(jobId).status);
        if (step == 0) return (PROVIDER, abi.encodeCall(JobEscrow.setBudget, (jobId, BUDGET, "")), 1);
        if (step == 1) return (CLIENT, abi.encodeCall(JobEscrow.fund, (jobId, "")), 1);
        if (step == 2) return (PROVIDER, abi.encodeCall(JobEscrow.submit, (jobId, WORK, "")), 2);
        if (step == 3) return (EVALUATOR, abi.encodeCall(JobEscrow.complete, (jobId, REASON, "")), 4);
        return (status == 0 ? CLIENT : EVALUATOR, abi.encodeCall(JobEscrow.reject, (jobId, REASON, "")), 7);
    }

    function _inStatus(uint256 status) private returns (uint256 jobId) {
        if (status == 0) return _priced();
        if (status == 1) return _funded();
        jobId = _submitted();
        if (status == 3) {
            vm.prank(EVALUATOR);
            escrow.complete(jobId, REASON, "");
        } else if (status == 4) {
            vm.prank(EVALUATOR);
            escrow.reject(jobId, REASON, "");
        } else if (status == 5) {
            vm.warp(escrow.getJob(jobId).expiredAt);
            escrow.claimRefund(jobId);
        }
    }

    function _refused(bytes memory data) private {
        vm.prank(STRANGER);
        (bool ok, bytes memory result) = address(escrow).call(data);
        assertFalse(ok);
        assertEq(bytes32(result), bytes32(Ownable.Unauthorized.selector));
    }

    function _created() private returns (uint256 jobId) {
        vm.prank(CLIENT);
        return escrow.createJob(PROVIDER, EVALUATOR, block.timestamp + 1 days, "write", address(0));
    }

    function _priced() private returns (uint256 jobId) {
        jobId = _created();
        vm.prank(PROVIDER);
        escrow.setBudget(jobId, BUDGET, "");
    }

    function _funded() private returns (uint256 jobId) {
        jobId = _priced();
        vm.prank(CLIENT);
        escrow.fund(jobId, "");
    }

    function _submitted() private returns (uint256 jobId) {
        jobId = _funded();
        vm.prank(PROVIDER);
        escrow.submit(jobId, WORK, "");
    }
}
