// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IJobEscrowAdapter} from "../../../contracts/interfaces/IJobEscrowAdapter.sol";
import {JobEscrowV3} from "../../../devnet/contracts/JobEscrowV3.sol";
import {EscrowFixture, OnV3} from "../../contracts/escrow/EscrowFixture.sol";
import {HookOfTests} from "../../contracts/escrow/HookOfTests.sol";

/// @dev What Virtuals' AgenticCommerceV3 does otherwise than the others.
contract JobEscrowV3Test is EscrowFixture, OnV3 {
    function _evaluator() internal pure override returns (address) {
        return address(0);
    }

    function test_AJobWithoutAnEvaluatorIsCompleteAsSoonAsWorkIsHandedIn() external {
        driver.setFees(500, 500);
        uint256 jobId = _submitted();
        _assertStatus(jobId, IJobEscrowAdapter.JobStatus.Completed);
        assertEq(usdc.balanceOf(PROVIDER), 95e6, "no evaluator takes a fee");
    }

    function test_FundingSaysWhatItExpectsToPay() external {
        uint256 jobId = _priced(address(0));
        JobEscrowV3 escrow = JobEscrowV3(driver.escrow());
        vm.prank(CLIENT);
        vm.expectRevert(JobEscrowV3.BudgetMismatch.selector);
        escrow.fund(jobId, BUDGET - 1, "");
    }

    function test_NeitherTheRefundNorTheNamingOfAProviderCallsAHook() external {
        HookOfTests hook = new HookOfTests();
        driver.allowHook(address(hook));
        uint256 jobId = driver.create(CLIENT, address(0), STRANGER, NOW + LIFE, address(hook));
        driver.setProvider(jobId, PROVIDER);
        assertEq(hook.count(), 0);
        driver.setBudget(jobId, BUDGET);
        driver.fund(jobId);
        hook.block_(true);
        vm.warp(NOW + LIFE);
        driver.claimRefund(jobId);
        assertEq(usdc.balanceOf(CLIENT), BUDGET);
    }
}
