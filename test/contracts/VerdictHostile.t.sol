// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {JobAdapterG1} from "../../contracts/escrow/JobAdapterG1.sol";
import {JobAdapterG3} from "../../contracts/escrow/JobAdapterG3.sol";
import {JobAdapterV3} from "../../contracts/escrow/JobAdapterV3.sol";
import {IJobEscrowAdapter} from "../../contracts/interfaces/IJobEscrowAdapter.sol";
import {IVerdictEvaluator} from "../../contracts/interfaces/IVerdictEvaluator.sol";
import {OnG1, OnG3, OnV3} from "./escrow/EscrowFixture.sol";
import {VerdictFixture} from "./VerdictFixture.sol";

/// @dev Brings another verdict from inside a step of a job, and can insist on it.
contract RelayingHook {
    IVerdictEvaluator private immutable evaluator;
    bytes private _call;
    bool private _insists;
    bytes public answer;

    constructor(IVerdictEvaluator evaluator_) {
        evaluator = evaluator_;
    }

    function arm(bytes calldata call, bool insists) external {
        (_call, _insists) = (call, insists);
    }

    function beforeAction(uint256, bytes4, bytes calldata) external {
        _bring();
    }

    function afterAction(uint256, bytes4, bytes calldata) external {
        _bring();
    }

    function supportsInterface(bytes4) external pure returns (bool) {
        return true;
    }

    function _bring() private {
        if (_call.length == 0) return;
        (bool ok, bytes memory result) = address(evaluator).call(_call);
        answer = result;
        if (_insists && !ok) {
            assembly ("memory-safe") {
                revert(add(result, 0x20), mload(result))
            }
        }
    }
}

/// @dev An escrow in the shape of V3 that takes the call and acts by its mood.
contract HostileEscrow {
    enum Mood {
        Ignoring,
        Doing,
        DoingTheOpposite,
        Reverting,
        Reentering
    }

    address private immutable evaluator;
    Mood private _mood;
    bytes private _call;
    uint256 public calls;
    JobAdapterV3Job private _job;

    struct JobAdapterV3Job {
        address client;
        uint8 status;
        address provider;
        uint48 expiredAt;
        address evaluator;
        address hook;
        uint256 budget;
        string description;
    }

    error Refused();

    constructor(address evaluator_) {
        evaluator = evaluator_;
        _job = JobAdapterV3Job(address(1), 2, address(2), type(uint48).max, evaluator_, address(0), 1, "");
    }

    function become(Mood mood, bytes calldata call) external {
        (_mood, _call) = (mood, call);
    }

    function answerStatus(uint8 status) external {
        _job.status = status;
    }

    function getJob(uint256) external view returns (JobAdapterV3Job memory) {
        return _job;
    }

    function complete(uint256, bytes32, bytes calldata) external {
        _act(3, 4);
    }

    function reject(uint256, bytes32, bytes calldata) external {
        _act(4, 3);
    }

    function _act(uint8 asked, uint8 opposite) private {
        ++calls;
        if (_mood == Mood.Reverting) revert Refused();
        if (_mood == Mood.Reentering) {
            (bool ok, bytes memory result) = evaluator.call(_call);
            if (!ok) {
                assembly ("memory-safe") {
                    revert(add(result, 0x20), mload(result))
                }
            }
        }
        if (_mood == Mood.Doing) _job.status = asked;
        if (_mood == Mood.DoingTheOpposite) _job.status = opposite;
    }
}

abstract contract VerdictHookSuite is VerdictFixture {
    function test_AHookThatBringsAVerdictFromWithinIsRefusedAndTheFirstOneStands() external {
        RelayingHook hook = new RelayingHook(evaluator);
        driver.allowHook(address(hook));
        uint256 jobId = _submitted(address(hook));
        uint256 other = _submitted();
        IVerdictEvaluator.Verdict[3] memory within =
            [_verdict(jobId, REJECT), _verdict(other, ALLOW), _verdict(other, HOLD)];
        IVerdictEvaluator.Verdict memory verdict = _verdict(jobId, ALLOW);
        bytes memory signature = _sign(SIGNER_KEY, verdict);
        for (uint256 i; i < 3; ++i) {
            // An insistent hook undoes it all, and the verdict is as good as before.
            hook.arm(_callOf(within[i]), true);
            vm.expectRevert(IVerdictEvaluator.Reentered.selector);
            evaluator.settle(escrow, jobId, verdict, signature);
            assertEq(evaluator.decisionOf(escrow, jobId), 0, "not used");
        }
        hook.arm(_callOf(within[0]), false);
        evaluator.settle(escrow, jobId, verdict, signature);
        assertEq(bytes32(hook.answer()), bytes32(IVerdictEvaluator.Reentered.selector), "refused within");
        assertEq(usdc.balanceOf(PROVIDER), BUDGET, "paid once");
        assertEq(evaluator.decisionOf(escrow, other), 0, "the other job is untouched");
    }

    function _callOf(IVerdictEvaluator.Verdict memory verdict) private view returns (bytes memory) {
        bytes memory signature = _sign(SIGNER_KEY, verdict);
        if (verdict.decision == HOLD) {
            return abi.encodeCall(evaluator.hold, (escrow, verdict.jobId, verdict, signature));
        }
        return abi.encodeCall(evaluator.settle, (escrow, verdict.jobId, verdict, signature));
    }
}

contract VerdictHookG1Test is VerdictHookSuite, OnG1 {}

contract VerdictHookG3Test is VerdictHookSuite, OnG3 {}

contract VerdictHookV3Test is VerdictHookSuite, OnV3 {}

contract VerdictHostileTest is VerdictFixture, OnG1 {
    HostileEscrow private hostile;

    function setUp() public override {
        super.setUp();
        hostile = new HostileEscrow(address(evaluator));
        escrow = address(hostile);
        _readBy(new JobAdapterV3());
    }

    function test_AnEscrowThatDoesNothingDoesNotUseTheVerdictUp() external {
        hostile.become(HostileEscrow.Mood.Ignoring, "");
        _refusesToSettle(
            _verdict(1, ALLOW),
            abi.encodeWithSelector(IVerdictEvaluator.EscrowDidNotAct.selector, escrow, 1, 2)
        );
        hostile.become(HostileEscrow.Mood.Doing, "");
        _settle(_verdict(1, ALLOW));
        assertEq(hostile.calls(), 1, "the first call was undone");
    }

    function test_AnEscrowThatDoesTheOppositeIsUndone() external {
        hostile.become(HostileEscrow.Mood.DoingTheOpposite, "");
        _refusesToSettle(
            _verdict(1, REJECT),
            abi.encodeWithSelector(IVerdictEvaluator.EscrowDidNotAct.selector, escrow, 1, 3)
        );
        assertEq(evaluator.decisionOf(escrow, 1), 0, "not used");
    }

    function test_AnEscrowsOwnReasonComesThrough() external {
        hostile.become(HostileEscrow.Mood.Reverting, "");
        _refusesToSettle(_verdict(1, ALLOW), abi.encodeWithSelector(HostileEscrow.Refused.selector));
        assertEq(evaluator.decisionOf(escrow, 1), 0, "not used");
    }

    function test_AnEscrowCannotReenter() external {
        IVerdictEvaluator.Verdict memory second = _verdict(2, REJECT);
        bytes memory call = abi.encodeCall(evaluator.settle, (escrow, 2, second, _sign(SIGNER_KEY, second)));
        hostile.become(HostileEscrow.Mood.Reentering, call);
        _refusesToSettle(_verdict(1, ALLOW), abi.encodeWithSelector(IVerdictEvaluator.Reentered.selector));
    }

    function testFuzz_AStatusThatDoesNotExistIsRefused(uint8 status) external {
        vm.assume(status > 5);
        hostile.answerStatus(status);
        _refusesToSettle(
            _verdict(1, ALLOW),
            abi.encodeWithSelector(IJobEscrowAdapter.UnknownStatus.selector, escrow, 1, status)
        );
    }

    /// @dev With the wrong adapter, the first job of the escrow is unreadable.
    function test_TheAdapterOfAnotherGenerationReadsNothing() external {
        _assertUnreadable(new JobAdapterG1());
        _assertUnreadable(new JobAdapterG3());
        uint256 jobId = _submittedOn(driver.escrow());
        _readBy(new JobAdapterV3());
        _assertUnreadable(jobId);
        _readBy(new JobAdapterG3());
        _assertUnreadable(jobId);
    }

    function _submittedOn(address g1) private returns (uint256) {
        escrow = g1;
        return _submitted();
    }

    function _assertUnreadable(IJobEscrowAdapter adapter) private {
        _readBy(adapter);
        _assertUnreadable(1);
    }

    function _assertUnreadable(uint256 jobId) private {
        IVerdictEvaluator.Verdict memory verdict = _verdict(jobId, ALLOW);
        bytes memory signature = _sign(SIGNER_KEY, verdict);
        vm.expectRevert();
        evaluator.settle(escrow, jobId, verdict, signature);
    }

    function _readBy(IJobEscrowAdapter adapter) private {
        vm.prank(OWNER);
        evaluator.setEscrow(escrow, address(adapter));
    }
}
