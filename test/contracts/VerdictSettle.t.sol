// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IJobEscrowAdapter} from "../../contracts/interfaces/IJobEscrowAdapter.sol";
import {IVerdictEvaluator} from "../../contracts/interfaces/IVerdictEvaluator.sol";
import {OnG1, OnG3, OnV3} from "./escrow/EscrowFixture.sol";
import {VerdictFixture} from "./VerdictFixture.sol";

/// settle
/// ├── the decision is neither ALLOW nor REJECT → WrongDecision
/// ├── the escrow is not allowed → EscrowNotAllowed
/// ├── the escrow's code changed → EscrowCodeChanged
/// ├── the verdict is for another escrow or job → OtherJob
/// ├── issued in the future → IssuedInFuture
/// ├── the deadline is past → VerdictExpired
/// ├── the deadline is more than 24 h after the issue → DeadlineTooLate
/// ├── no current signer signed it → InvalidSignature
/// ├── a terminal verdict was carried out → AlreadySettled
/// ├── the id was never given → UnknownJob
/// ├── the job is not submitted → JobNotSubmitted
/// ├── the job names another evaluator → OtherEvaluator
/// ├── the escrow refuses → its reason, and the verdict can be brought again
/// └── otherwise, for any sender
///     ├── ALLOW completes the job, with the evidence's hash as reason
///     └── REJECT rejects it
abstract contract VerdictSettleSuite is VerdictFixture {
    event JobCompleted(uint256 indexed jobId, address indexed evaluator, bytes32 reason);
    event JobRejected(uint256 indexed jobId, address indexed rejector, bytes32 reason);

    function test_RevertWhen_TheDecisionIsNotTerminal() external {
        uint256 jobId = _submitted();
        uint8[4] memory decisions = [0, HOLD, 4, 255];
        for (uint256 i; i < 4; ++i) {
            _refusesToSettle(
                _verdict(jobId, decisions[i]),
                abi.encodeWithSelector(IVerdictEvaluator.WrongDecision.selector, decisions[i])
            );
        }
    }

    function test_RevertWhen_TheEscrowIsNotAllowed() external {
        IVerdictEvaluator.Verdict memory verdict = _verdict(_submitted(), ALLOW);
        bytes memory refusal = abi.encodeWithSelector(IVerdictEvaluator.EscrowNotAllowed.selector, escrow);
        vm.prank(OWNER);
        evaluator.setEscrow(escrow, address(0));
        _refusesToSettle(verdict, refusal);
    }

    function test_RevertWhen_TheEscrowsCodeChanged() external {
        IVerdictEvaluator.Verdict memory verdict = _verdict(_submitted(), ALLOW);
        bytes32 before = escrow.codehash;
        vm.etch(escrow, bytes.concat(escrow.code, hex"00"));
        bytes memory refusal = abi.encodeWithSelector(
            IVerdictEvaluator.EscrowCodeChanged.selector, escrow, before, escrow.codehash
        );
        _refusesToSettle(verdict, refusal);
    }

    function test_RevertWhen_ItIsForAnotherJobOrEscrow() external {
        uint256 jobId = _submitted();
        uint256 other = _submitted();
        IVerdictEvaluator.Verdict memory verdict = _verdict(jobId, ALLOW);
        bytes memory signature = _sign(SIGNER_KEY, verdict);
        vm.expectRevert(abi.encodeWithSelector(IVerdictEvaluator.OtherJob.selector, escrow, jobId));
        evaluator.settle(escrow, other, verdict, signature);

        verdict.escrow = STRANGER;
        signature = _sign(SIGNER_KEY, verdict);
        vm.expectRevert(abi.encodeWithSelector(IVerdictEvaluator.OtherJob.selector, STRANGER, jobId));
        evaluator.settle(escrow, jobId, verdict, signature);
    }

    function test_RevertWhen_TheSameJobIdLiesInAnotherEscrow() external {
        uint256 jobId = _submitted();
        address elsewhere = _driver(usdc).escrow();
        IVerdictEvaluator.Verdict memory verdict = _verdict(jobId, ALLOW);
        bytes memory signature = _sign(SIGNER_KEY, verdict);
        vm.expectRevert(abi.encodeWithSelector(IVerdictEvaluator.EscrowNotAllowed.selector, elsewhere));
        evaluator.settle(elsewhere, jobId, verdict, signature);
        address adapter = address(driver.adapter());
        vm.prank(OWNER);
        evaluator.setEscrow(elsewhere, adapter);
        vm.expectRevert(abi.encodeWithSelector(IVerdictEvaluator.OtherJob.selector, escrow, jobId));
        evaluator.settle(elsewhere, jobId, verdict, signature);
    }

    function test_RevertWhen_IssuedInTheFuture() external {
        IVerdictEvaluator.Verdict memory verdict = _verdict(_submitted(), ALLOW);
        verdict.issuedAt = NOW + 1;
        _refusesToSettle(
            verdict, abi.encodeWithSelector(IVerdictEvaluator.IssuedInFuture.selector, NOW + 1, NOW)
        );
    }

    function test_RevertWhen_TheDeadlineIsPast() external {
        IVerdictEvaluator.Verdict memory verdict = _verdict(_submitted(), ALLOW);
        vm.warp(verdict.deadline + 1);
        _refusesToSettle(
            verdict,
            abi.encodeWithSelector(
                IVerdictEvaluator.VerdictExpired.selector, verdict.deadline, verdict.deadline + 1
            )
        );
    }

    function test_AcceptsTheLastSecond() external {
        IVerdictEvaluator.Verdict memory verdict = _verdict(_submitted(), ALLOW);
        vm.warp(verdict.deadline);
        _settle(verdict);
        _assertStatus(verdict.jobId, IJobEscrowAdapter.JobStatus.Completed);
    }

    function test_RevertWhen_TheDeadlineIsMoreThanADayAfterTheIssue() external {
        IVerdictEvaluator.Verdict memory verdict = _verdict(_submitted(), ALLOW);
        verdict.deadline = NOW + 24 hours + 1;
        _refusesToSettle(
            verdict,
            abi.encodeWithSelector(
                IVerdictEvaluator.DeadlineTooLate.selector, verdict.deadline, NOW + 24 hours
            )
        );
    }

    function test_RevertWhen_AStrangerSigned() external {
        IVerdictEvaluator.Verdict memory verdict = _verdict(_submitted(), ALLOW);
        bytes memory signature = _sign(NEXT_KEY, verdict);
        vm.expectRevert(IVerdictEvaluator.InvalidSignature.selector);
        evaluator.settle(escrow, verdict.jobId, verdict, signature);
    }

    function test_RevertWhen_AlreadySettled() external {
        uint256 jobId = _submitted();
        _settle(_verdict(jobId, REJECT));
        bytes memory refusal =
            abi.encodeWithSelector(IVerdictEvaluator.AlreadySettled.selector, escrow, jobId, REJECT);
        _refusesToSettle(_verdict(jobId, REJECT), refusal);
        _refusesToSettle(_verdict(jobId, ALLOW), refusal);
        assertEq(usdc.balanceOf(CLIENT), BUDGET, "client");
    }

    function test_RevertWhen_TheIdWasNeverGiven() external {
        uint256 unknown = _submitted() + 1;
        _refusesToSettle(
            _verdict(unknown, ALLOW),
            abi.encodeWithSelector(IJobEscrowAdapter.UnknownJob.selector, escrow, unknown)
        );
        _refusesToSettle(
            _verdict(0, ALLOW), abi.encodeWithSelector(IJobEscrowAdapter.UnknownJob.selector, escrow, 0)
        );
    }

    function test_RevertWhen_TheJobIsNotSubmitted() external {
        uint256 jobId = _priced(address(0));
        _refusesUnlessSubmitted(jobId, 0);
        driver.fund(jobId);
        // The escrow itself would let its evaluator reject a funded job.
        _refusesUnlessSubmitted(jobId, 1);
        driver.submit(jobId, WORK);
        driver.rejectAs(address(evaluator), jobId);
        _refusesUnlessSubmitted(jobId, 4);
        jobId = _submitted();
        driver.completeAs(address(evaluator), jobId);
        _refusesUnlessSubmitted(jobId, 3);
        jobId = _submitted();
        vm.warp(driver.endOf(jobId));
        driver.claimRefund(jobId);
        _refusesUnlessSubmitted(jobId, 5);
    }

    function test_RevertWhen_TheJobNamesAnotherEvaluator() external {
        uint256 jobId = driver.create(CLIENT, PROVIDER, STRANGER, NOW + LIFE, address(0));
        driver.setBudget(jobId, BUDGET);
        driver.fund(jobId);
        driver.submit(jobId, WORK);
        _refusesToSettle(
            _verdict(jobId, ALLOW),
            abi.encodeWithSelector(IVerdictEvaluator.OtherEvaluator.selector, escrow, jobId, STRANGER)
        );
    }

    function test_AVerdictCanBeBroughtAgainAfterTheEscrowRefused() external {
        uint256 jobId = _submitted();
        IVerdictEvaluator.Verdict memory verdict = _verdict(jobId, ALLOW);
        bytes memory signature = _sign(SIGNER_KEY, verdict);
        uint256 held = usdc.balanceOf(escrow);
        vm.prank(escrow);
        usdc.transfer(STRANGER, held);
        vm.expectRevert();
        evaluator.settle(escrow, jobId, verdict, signature);
        assertEq(evaluator.decisionOf(escrow, jobId), 0, "not used");

        vm.prank(STRANGER);
        usdc.transfer(escrow, held);
        evaluator.settle(escrow, jobId, verdict, signature);
        assertEq(evaluator.decisionOf(escrow, jobId), ALLOW, "used");
        assertEq(usdc.balanceOf(PROVIDER), BUDGET, "provider");
    }

    function test_AllowPaysTheProviderWhoeverBringsIt() external {
        uint256 jobId = _submitted();
        IVerdictEvaluator.Verdict memory verdict = _verdict(jobId, ALLOW);
        bytes memory signature = _sign(SIGNER_KEY, verdict);
        _expectEvent();
        emit VerdictSettled(escrow, jobId, ALLOW, 84, EVIDENCE);
        vm.expectEmit({
            checkTopic1: true, checkTopic2: true, checkTopic3: true, checkData: true, emitter: escrow
        });
        emit JobCompleted(jobId, address(evaluator), EVIDENCE);
        vm.prank(STRANGER);
        evaluator.settle(escrow, jobId, verdict, signature);
        _assertStatus(jobId, IJobEscrowAdapter.JobStatus.Completed);
        assertEq(usdc.balanceOf(PROVIDER), BUDGET, "provider");
        assertEq(evaluator.decisionOf(escrow, jobId), ALLOW, "decision");
    }

    function test_RejectRefundsTheClientWhoeverBringsIt() external {
        uint256 jobId = _submitted();
        IVerdictEvaluator.Verdict memory verdict = _verdict(jobId, REJECT);
        bytes memory signature = _sign(SIGNER_KEY, verdict);
        _expectEvent();
        emit VerdictSettled(escrow, jobId, REJECT, 84, EVIDENCE);
        vm.expectEmit({
            checkTopic1: true, checkTopic2: true, checkTopic3: true, checkData: true, emitter: escrow
        });
        emit JobRejected(jobId, address(evaluator), EVIDENCE);
        vm.prank(STRANGER);
        evaluator.settle(escrow, jobId, verdict, signature);
        _assertStatus(jobId, IJobEscrowAdapter.JobStatus.Rejected);
        assertEq(usdc.balanceOf(CLIENT), BUDGET, "client");
        assertEq(evaluator.decisionOf(escrow, jobId), REJECT, "decision");
    }

    function test_TheOwnerTakesOutWhatEscrowsPaidTheEvaluator() external {
        driver.setFees(0, 500);
        _settle(_verdict(_submitted(), ALLOW));
        assertEq(usdc.balanceOf(address(evaluator)), 5e6, "fee");
        vm.prank(OWNER);
        evaluator.withdrawFees(address(usdc), STRANGER);
        assertEq(usdc.balanceOf(STRANGER), 5e6, "withdrawn");
    }

    function _refusesUnlessSubmitted(uint256 jobId, uint8 status) private {
        for (uint8 decision = ALLOW; decision <= REJECT; ++decision) {
            _refusesToSettle(
                _verdict(jobId, decision),
                abi.encodeWithSelector(IVerdictEvaluator.JobNotSubmitted.selector, escrow, jobId, status)
            );
        }
    }
}

contract VerdictSettleG1Test is VerdictSettleSuite, OnG1 {}

contract VerdictSettleG3Test is VerdictSettleSuite, OnG3 {}

contract VerdictSettleV3Test is VerdictSettleSuite, OnV3 {}
