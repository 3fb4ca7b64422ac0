// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IJobEscrowAdapter} from "../../contracts/interfaces/IJobEscrowAdapter.sol";
import {IVerdictEvaluator} from "../../contracts/interfaces/IVerdictEvaluator.sol";
import {OnG1, OnG3, OnV3} from "./escrow/EscrowFixture.sol";
import {VerdictFixture} from "./VerdictFixture.sol";

/// hold
/// ├── the decision is not HOLD → WrongDecision
/// ├── escrow, times or signature are not in order → as for settle
/// ├── a terminal verdict was carried out → AlreadySettled
/// ├── the job is not submitted, or names another evaluator → JobNotSubmitted, OtherEvaluator
/// ├── the job had expired when it was issued → JobOver
/// ├── a HOLD as new or newer is on record → HoldNotNewer
/// └── otherwise, for any sender
///     ├── the HOLD is on record, with the time by which a review is due
///     ├── the escrow is not called
///     └── a terminal verdict can follow
abstract contract VerdictHoldSuite is VerdictFixture {
    function test_RevertWhen_TheDecisionIsNotHold() external {
        uint256 jobId = _submitted();
        uint8[4] memory decisions = [0, ALLOW, REJECT, 4];
        for (uint256 i; i < 4; ++i) {
            _refusesToHold(
                _verdict(jobId, decisions[i]),
                abi.encodeWithSelector(IVerdictEvaluator.WrongDecision.selector, decisions[i])
            );
        }
    }

    function test_RevertWhen_EscrowTimesOrSignatureAreNotInOrder() external {
        uint256 jobId = _submitted();
        IVerdictEvaluator.Verdict memory verdict = _verdict(jobId, HOLD);
        verdict.escrow = STRANGER;
        _refusesToHold(verdict, abi.encodeWithSelector(IVerdictEvaluator.EscrowNotAllowed.selector, STRANGER));
        verdict = _verdict(jobId, HOLD);
        verdict.issuedAt = NOW + 1;
        _refusesToHold(
            verdict, abi.encodeWithSelector(IVerdictEvaluator.IssuedInFuture.selector, NOW + 1, NOW)
        );
        verdict = _verdict(jobId, HOLD);
        bytes memory signature = _sign(NEXT_KEY, verdict);
        vm.expectRevert(IVerdictEvaluator.InvalidSignature.selector);
        evaluator.hold(escrow, jobId, verdict, signature);
        signature = _sign(SIGNER_KEY, verdict);
        vm.expectRevert(abi.encodeWithSelector(IVerdictEvaluator.OtherJob.selector, escrow, jobId));
        evaluator.hold(escrow, jobId + 1, verdict, signature);
        vm.warp(verdict.deadline + 1);
        _refusesToHold(
            verdict,
            abi.encodeWithSelector(
                IVerdictEvaluator.VerdictExpired.selector, verdict.deadline, verdict.deadline + 1
            )
        );
    }

    function test_RevertWhen_AlreadySettled() external {
        uint256 jobId = _submitted();
        _settle(_verdict(jobId, ALLOW));
        _refusesToHold(
            _verdict(jobId, HOLD),
            abi.encodeWithSelector(IVerdictEvaluator.AlreadySettled.selector, escrow, jobId, ALLOW)
        );
    }

    function test_RevertWhen_TheJobIsNotSubmitted() external {
        uint256 jobId = _funded(address(0));
        _refusesToHold(
            _verdict(jobId, HOLD),
            abi.encodeWithSelector(IVerdictEvaluator.JobNotSubmitted.selector, escrow, jobId, 1)
        );
    }

    function test_RevertWhen_TheJobHadExpired() external {
        uint256 jobId = _submitted();
        vm.warp(NOW + LIFE);
        _refusesToHold(
            _verdict(jobId, HOLD),
            abi.encodeWithSelector(IVerdictEvaluator.JobOver.selector, NOW + LIFE, NOW + LIFE)
        );
    }

    function test_ItIsOnRecordUntilAQuarterOfTheTimeIsLeftAndTheEscrowIsNotCalled() external {
        uint256 jobId = _submitted();
        IVerdictEvaluator.Verdict memory verdict = _verdict(jobId, HOLD);
        bytes memory signature = _sign(SIGNER_KEY, verdict);
        uint64 reviewBy = uint64(NOW + 3 days);
        // A late relay does not extend the time for review.
        vm.warp(NOW + 1 hours);
        vm.record();
        _expectEvent();
        emit HoldRecorded(escrow, jobId, EVIDENCE, reviewBy);
        vm.prank(STRANGER);
        evaluator.hold(escrow, jobId, verdict, signature);
        (, bytes32[] memory writes) = vm.accesses(escrow);
        assertEq(writes.length, 0, "the escrow was written to");

        IVerdictEvaluator.Hold memory held = evaluator.holdOf(escrow, jobId);
        assertEq(held.evidenceHash, EVIDENCE, "evidence");
        assertEq(held.issuedAt, NOW, "issued");
        assertEq(held.reviewBy, reviewBy, "review by");
        assertEq(evaluator.decisionOf(escrow, jobId), 0, "decision");
        _assertStatus(jobId, IJobEscrowAdapter.JobStatus.Submitted);
    }

    function test_TheSameOrAnOlderHoldIsRefusedAndANewerOneReplacesIt() external {
        uint256 jobId = _submitted();
        IVerdictEvaluator.Verdict memory first = _verdict(jobId, HOLD);
        _hold(first);
        _refusesToHold(first, abi.encodeWithSelector(IVerdictEvaluator.HoldNotNewer.selector, NOW, NOW));

        vm.warp(NOW + 2 days);
        IVerdictEvaluator.Verdict memory second = _verdict(jobId, HOLD);
        second.evidenceHash = keccak256("more");
        _hold(second);
        IVerdictEvaluator.Hold memory held = evaluator.holdOf(escrow, jobId);
        assertEq(held.evidenceHash, second.evidenceHash, "evidence");
        assertEq(held.reviewBy, NOW + 3.5 days, "review by");
    }

    function test_AnOlderHoldNeverReplacesANewerOne() external {
        uint256 jobId = _submitted();
        IVerdictEvaluator.Verdict memory first = _verdict(jobId, HOLD);
        vm.warp(NOW + 1 hours);
        _hold(_verdict(jobId, HOLD));
        _refusesToHold(
            first, abi.encodeWithSelector(IVerdictEvaluator.HoldNotNewer.selector, NOW, NOW + 1 hours)
        );
    }

    function test_ATerminalVerdictCanFollow() external {
        uint256 jobId = _submitted();
        _hold(_verdict(jobId, HOLD));
        _settle(_verdict(jobId, ALLOW));
        assertEq(usdc.balanceOf(PROVIDER), BUDGET, "provider");
        assertEq(evaluator.holdOf(escrow, jobId).evidenceHash, EVIDENCE, "the HOLD stays on record");
    }

    function test_AnExpiryBeyondAllTimeIsNoObstacle() external {
        uint256 far = type(uint48).max;
        uint256 jobId = driver.create(CLIENT, PROVIDER, address(evaluator), far, address(0));
        driver.setBudget(jobId, BUDGET);
        driver.fund(jobId);
        driver.submit(jobId, WORK);
        _hold(_verdict(jobId, HOLD));
        assertEq(evaluator.holdOf(escrow, jobId).reviewBy, far - (far - NOW) / 4);
    }
}

contract VerdictHoldG1Test is VerdictHoldSuite, OnG1 {
    function test_AnExpiryOf256BitsIsReviewedByTheLastMoment() external {
        uint256 jobId = driver.create(CLIENT, PROVIDER, address(evaluator), type(uint256).max, address(0));
        driver.setBudget(jobId, BUDGET);
        driver.fund(jobId);
        driver.submit(jobId, WORK);
        _hold(_verdict(jobId, HOLD));
        assertEq(evaluator.holdOf(escrow, jobId).reviewBy, type(uint64).max);
    }
}

contract VerdictHoldG3Test is VerdictHoldSuite, OnG3 {}

contract VerdictHoldV3Test is VerdictHoldSuite, OnV3 {}
