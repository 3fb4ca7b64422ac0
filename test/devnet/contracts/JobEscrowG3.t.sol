// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {Ownable} from "solady/auth/Ownable.sol";

import {IJobEscrowAdapter} from "../../../contracts/interfaces/IJobEscrowAdapter.sol";
import {JobEscrowG3} from "../../../devnet/contracts/JobEscrowG3.sol";
import {EscrowFixture, OnG3} from "../../contracts/escrow/EscrowFixture.sol";
import {HookOfTests} from "../../contracts/escrow/HookOfTests.sol";

/// @dev What generation G3 does otherwise than the others.
contract JobEscrowG3Test is EscrowFixture, OnG3 {
    address private constant EVALUATOR = address(0xE3);

    JobEscrowG3 private escrow;
    HookOfTests private hook;

    function setUp() public override {
        super.setUp();
        escrow = JobEscrowG3(driver.escrow());
        hook = new HookOfTests();
        driver.allowHook(address(hook));
    }

    function _evaluator() internal pure override returns (address) {
        return EVALUATOR;
    }

    function test_HookDataBeginsWithTheActor() external {
        uint256 jobId = driver.create(CLIENT, address(0), EVALUATOR, NOW + LIFE, address(hook));
        assertEq(hook.count(), 0, "creation calls no hook");
        driver.setProvider(jobId, PROVIDER);
        assertEq(hook.lastData(), abi.encode(CLIENT, PROVIDER, uint256(7), ""));
        driver.setBudget(jobId, BUDGET);
        assertEq(hook.lastData(), abi.encode(PROVIDER, address(usdc), BUDGET, ""));
        driver.fund(jobId);
        assertEq(hook.lastData(), abi.encode(CLIENT, ""));
        driver.submit(jobId, WORK);
        assertEq(hook.lastData(), abi.encode(PROVIDER, WORK, ""));
        driver.completeAs(EVALUATOR, jobId);
        assertEq(hook.lastData(), abi.encode(EVALUATOR, bytes32("ours"), ""));
        assertEq(hook.count(), 10, "before and after each of five steps");
    }

    function test_TheNewestCreateJobCallsTheHookAfterwards() external {
        vm.prank(CLIENT);
        uint256 jobId =
            escrow.createJob(PROVIDER, EVALUATOR, uint48(NOW + LIFE), "work", address(hook), 7, "");
        assertEq(hook.count(), 1);
        assertEq(hook.seen(0), bytes4(0xef98d864));
        assertEq(hook.lastData(), abi.encode(CLIENT, PROVIDER, EVALUATOR));
        _assertStatus(jobId, IJobEscrowAdapter.JobStatus.Open);
    }

    function test_AHookCanStopARefundUntilTheOwnerDetachesIt() external {
        uint256 jobId = _submitted(address(hook));
        vm.warp(driver.endOf(jobId));
        hook.block_(true);
        vm.expectRevert("hook says no");
        driver.claimRefund(jobId);

        uint256[] memory jobIds = new uint256[](1);
        jobIds[0] = jobId;
        vm.prank(address(driver));
        escrow.batchDetachHook(jobIds);
        driver.claimRefund(jobId);
        assertEq(usdc.balanceOf(CLIENT), BUDGET);
    }

    function test_TheEvaluatorHasAnHourAfterTheExpiryOfASubmittedJob() external {
        uint256 jobId = _submitted();
        vm.warp(NOW + LIFE);
        vm.expectRevert(JobEscrowG3.GracePeriodActive.selector);
        driver.claimRefund(jobId);
        driver.completeAs(EVALUATOR, jobId);
        assertEq(usdc.balanceOf(PROVIDER), BUDGET);
    }

    function test_AJobIsPaidInItsOwnTokenIfItIsAllowed() external {
        uint256 jobId = _created(address(0));
        vm.prank(PROVIDER);
        vm.expectRevert(JobEscrowG3.PaymentTokenNotAllowed.selector);
        escrow.setBudget(jobId, STRANGER, BUDGET, "");
        driver.setBudget(jobId, BUDGET);
        vm.startPrank(CLIENT);
        vm.expectRevert(JobEscrowG3.PaymentTokenMismatch.selector);
        escrow.fund(jobId, STRANGER, BUDGET, "");
        vm.expectRevert(JobEscrowG3.BudgetMismatch.selector);
        escrow.fund(jobId, address(usdc), BUDGET + 1, "");
    }

    function test_TheThreePartiesDiffer() external {
        vm.expectRevert(JobEscrowG3.ClientCannotBeProvider.selector);
        driver.create(CLIENT, CLIENT, EVALUATOR, NOW + LIFE, address(0));
        vm.expectRevert(JobEscrowG3.ProviderCannotBeEvaluator.selector);
        driver.create(CLIENT, PROVIDER, PROVIDER, NOW + LIFE, address(0));
        vm.expectRevert(JobEscrowG3.ZeroAddress.selector);
        driver.create(CLIENT, PROVIDER, address(0), NOW + LIFE, address(0));
    }

    function test_ClientOrProviderRejectAnOpenJobAndItsExpiryRefundsNothing() external {
        uint256 jobId = _priced(address(0));
        driver.rejectAs(PROVIDER, jobId);
        jobId = _priced(address(0));
        driver.rejectAs(CLIENT, jobId);
        jobId = _priced(address(0));
        vm.warp(NOW + LIFE);
        driver.claimRefund(jobId);
        assertEq(usdc.balanceOf(CLIENT), 0);
    }

    function test_AJobWithoutABudgetIsSubmittedWithoutFunding() external {
        uint256 jobId = _created(address(0));
        driver.submit(jobId, WORK);
        driver.completeAs(EVALUATOR, jobId);
        assertEq(usdc.balanceOf(PROVIDER), 0);
    }

    function test_OnlyTheOwnerDetachesAllowsAndSetsFees() external {
        vm.startPrank(STRANGER);
        vm.expectRevert(Ownable.Unauthorized.selector);
        escrow.batchDetachHook(new uint256[](0));
        vm.expectRevert(Ownable.Unauthorized.selector);
        escrow.setPaymentTokenAllowed(STRANGER, true);
        vm.expectRevert(Ownable.Unauthorized.selector);
        escrow.setFees(0, 0);
    }

    function test_AHookThatIsNoneIsRefused() external {
        driver.allowHook(address(usdc));
        vm.expectRevert();
        _created(address(usdc));
    }
}
