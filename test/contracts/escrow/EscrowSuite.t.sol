// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IJobEscrowAdapter} from "../../../contracts/interfaces/IJobEscrowAdapter.sol";
import {EscrowFixture, OnG1, OnG3, OnV3} from "./EscrowFixture.sol";
import {HookOfTests} from "./HookOfTests.sol";

/// @dev What every generation of escrow and its adapter do alike.
abstract contract EscrowSuite is EscrowFixture {
    address private constant EVALUATOR = address(0xE3);

    function _evaluator() internal pure override returns (address) {
        return EVALUATOR;
    }

    function test_TheAdapterReadsAJobAsItWasMade() external {
        HookOfTests hook = new HookOfTests();
        driver.allowHook(address(hook));
        uint256 jobId = _priced(address(hook));
        IJobEscrowAdapter.Job memory job = driver.read(jobId);
        assertEq(job.client, CLIENT, "client");
        assertEq(job.provider, PROVIDER, "provider");
        assertEq(job.evaluator, EVALUATOR, "evaluator");
        assertEq(job.hook, address(hook), "hook");
        assertEq(job.expiredAt, NOW + LIFE, "expiry");
        assertEq(job.budget, BUDGET, "budget");
        _assertStatus(jobId, IJobEscrowAdapter.JobStatus.Open);
    }

    function test_TheAdapterReadsEveryStatus() external {
        uint256 jobId = _priced(address(0));
        driver.fund(jobId);
        _assertStatus(jobId, IJobEscrowAdapter.JobStatus.Funded);
        driver.submit(jobId, WORK);
        _assertStatus(jobId, IJobEscrowAdapter.JobStatus.Submitted);
        driver.completeAs(EVALUATOR, jobId);
        _assertStatus(jobId, IJobEscrowAdapter.JobStatus.Completed);

        jobId = _submitted();
        driver.rejectAs(EVALUATOR, jobId);
        _assertStatus(jobId, IJobEscrowAdapter.JobStatus.Rejected);

        jobId = _submitted();
        vm.warp(driver.endOf(jobId));
        driver.claimRefund(jobId);
        _assertStatus(jobId, IJobEscrowAdapter.JobStatus.Expired);
    }

    function testFuzz_TheAdapterRefusesAnIdNeverGiven(uint256 jobId) external {
        uint256 last = _submitted();
        vm.assume(jobId == 0 || jobId > last);
        IJobEscrowAdapter adapter = driver.adapter();
        address escrow = driver.escrow();
        vm.expectRevert(abi.encodeWithSelector(IJobEscrowAdapter.UnknownJob.selector, escrow, jobId));
        adapter.readJob(escrow, jobId);
    }

    function test_ACompletedJobPaysTheProviderLessTheFees() external {
        driver.setFees(500, 250);
        uint256 jobId = _submitted();
        driver.completeAs(EVALUATOR, jobId);
        assertEq(usdc.balanceOf(driver.TREASURY()), 5e6, "treasury");
        assertEq(usdc.balanceOf(EVALUATOR), 2.5e6, "evaluator");
        assertEq(usdc.balanceOf(PROVIDER), 92.5e6, "provider");
        assertEq(usdc.balanceOf(driver.escrow()), 0, "escrow");
    }

    function test_ARejectedJobRefundsTheClientInFull() external {
        driver.setFees(500, 250);
        uint256 jobId = _submitted();
        driver.rejectAs(EVALUATOR, jobId);
        assertEq(usdc.balanceOf(CLIENT), BUDGET, "client");
    }

    function test_OnlyTheEvaluatorEndsASubmittedJob() external {
        uint256 jobId = _submitted();
        address[3] memory others = [CLIENT, PROVIDER, STRANGER];
        for (uint256 i; i < 3; ++i) {
            vm.expectRevert();
            driver.completeAs(others[i], jobId);
            vm.expectRevert();
            driver.rejectAs(others[i], jobId);
        }
    }

    function test_AnyoneReturnsTheMoneyOfASubmittedJobAfterItsEnd() external {
        uint256 jobId = _submitted();
        vm.warp(driver.endOf(jobId) - 1);
        vm.expectRevert();
        driver.claimRefund(jobId);
        vm.warp(driver.endOf(jobId));
        driver.claimRefund(jobId);
        assertEq(usdc.balanceOf(CLIENT), BUDGET, "client");
        vm.expectRevert();
        driver.completeAs(EVALUATOR, jobId);
    }

    function test_AJobEndsOnce() external {
        uint256 jobId = _submitted();
        driver.completeAs(EVALUATOR, jobId);
        vm.expectRevert();
        driver.completeAs(EVALUATOR, jobId);
        vm.expectRevert();
        driver.rejectAs(EVALUATOR, jobId);
        vm.warp(NOW + LIFE + 1 days);
        vm.expectRevert();
        driver.claimRefund(jobId);
    }

    function test_AHookMustBeAllowed() external {
        vm.expectRevert();
        _created(STRANGER);
    }
}

contract EscrowG1Test is EscrowSuite, OnG1 {}

contract EscrowG3Test is EscrowSuite, OnG3 {}

contract EscrowV3Test is EscrowSuite, OnV3 {}
