// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {ScoreGateHook} from "../../contracts/ScoreGateHook.sol";
import {IJobEscrowAdapter} from "../../contracts/interfaces/IJobEscrowAdapter.sol";
import {AllGenerations} from "./escrow/AllGenerations.sol";
import {EscrowDriver} from "./escrow/EscrowDriver.sol";
import {ScoreOracle} from "./ScoreOracle.sol";
import {VerdictHandler} from "./VerdictHandler.sol";

contract VerdictInvariantsTest is AllGenerations {
    VerdictHandler private handler;

    function setUp() external {
        EscrowDriver[3] memory drivers = _deployAll();
        ScoreOracle scores = new ScoreOracle();
        address[3] memory hooks;
        for (uint256 i; i < 3; ++i) {
            address adapter = address(drivers[i].adapter());
            hooks[i] = address(
                new ScoreGateHook(drivers[i].escrow(), adapter, address(scores.oracle()), 60, 1 days, false)
            );
            drivers[i].allowHook(hooks[i]);
        }
        handler = new VerdictHandler(evaluator, scores, SIGNER_KEY, drivers, hooks);
    }

    /// @dev Read by forge: only the handler is called at random.
    function targetContracts() external view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(handler);
    }

    /// 6. One terminal escrow call per job; a failed call leaves the verdict usable.
    function invariant_OneTerminalEscrowCallPerJobAndAFailedCallLeavesTheVerdictUsable() external {
        assertFalse(handler.failureUsedVerdict(), "a failed call used a verdict");
        VerdictHandler.Job[] memory jobs = handler.jobs();
        for (uint256 i; i < jobs.length; ++i) {
            VerdictHandler.Job memory job = jobs[i];
            assertLte(job.terminalCalls, 1, "terminal calls");
            assertEq(evaluator.decisionOf(job.driver.escrow(), job.id), job.decision, "decision");
            uint256 status = uint256(job.driver.statusOf(job.id));
            if (job.decision == 1) assertEq(status, uint256(IJobEscrowAdapter.JobStatus.Completed));
            if (job.decision == 2) assertEq(status, uint256(IJobEscrowAdapter.JobStatus.Rejected));
            if (job.decision == 0) {
                assertTrue(status == 2 || status == 5, "nobody else completes or rejects");
            }
        }
    }

    /// 7. HOLD never moves escrow.
    function invariant_HoldNeverMovesEscrow() external {
        assertFalse(handler.holdMovedEscrow(), "a HOLD moved an escrow");
        VerdictHandler.Job[] memory jobs = handler.jobs();
        uint256[3] memory submitted;
        for (uint256 i; i < jobs.length; ++i) {
            address escrow = jobs[i].driver.escrow();
            bytes32 recorded = evaluator.holdOf(escrow, jobs[i].id).evidenceHash;
            assertEq(recorded, jobs[i].newestHold, "the newest HOLD");
            if (uint256(jobs[i].driver.statusOf(jobs[i].id)) == 2) {
                ++submitted[handler.generationOf(jobs[i].driver)];
            }
        }
        for (uint256 i; i < jobs.length; ++i) {
            // The escrow holds what its submitted jobs cost, held or not.
            uint256 held = usdc.balanceOf(jobs[i].driver.escrow());
            assertEq(held, 10e6 * submitted[handler.generationOf(jobs[i].driver)], "budget");
        }
    }

    /// 8. A hook never blocks a terminal action.
    function invariant_AHookNeverBlocksATerminalAction() external {
        assertFalse(handler.terminalBlocked(), "a terminal action was blocked");
    }

    /// @dev The campaign is worth something only if it settles, holds and expires jobs behind hooks.
    function test_TheHandlerSettlesAndHolds() external {
        for (uint256 i; i < 6; ++i) {
            handler.submit(i, 0);
        }
        handler.disgrace(0);
        handler.hold(0, "first");
        handler.settleTwice(0, 0, 1);
        handler.settleWhileItFails(1, 0);
        handler.settle(2, 1, "reject");
        handler.advance(9);
        handler.expire(3);
        assertEq(handler.settled(), 3);
        assertEq(handler.holds(), 1);
        assertFalse(handler.terminalBlocked());
        assertFalse(handler.failureUsedVerdict());
    }
}
