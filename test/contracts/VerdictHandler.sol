// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {Vm} from "@prb/test/Vm.sol";

import {IJobEscrowAdapter} from "../../contracts/interfaces/IJobEscrowAdapter.sol";
import {IVerdictEvaluator} from "../../contracts/interfaces/IVerdictEvaluator.sol";
import {UsdCoin} from "../../devnet/contracts/UsdCoin.sol";
import {EscrowDriver} from "./escrow/EscrowDriver.sol";
import {ScoreOracle} from "./ScoreOracle.sol";

/// @dev Takes jobs on all generations through their lives at random, brings verdicts in and out of order, and keeps its
/// own account of what may have happened to each.
contract VerdictHandler {
    struct Job {
        EscrowDriver driver;
        uint256 id;
        uint8 decision;
        uint256 terminalCalls;
        bytes32 newestHold;
    }

    Vm private constant vm = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));
    uint256 private constant BUDGET = 10e6;

    IVerdictEvaluator public immutable evaluator;
    ScoreOracle private immutable scores;
    uint256 private immutable signerKey;
    EscrowDriver[3] private _drivers;
    address[3] private _hooks;
    Job[] private _jobs;

    uint64 public time;
    uint256 public settled;
    uint256 public holds;
    bool public holdMovedEscrow;
    bool public failureUsedVerdict;
    bool public terminalBlocked;

    constructor(
        IVerdictEvaluator evaluator_,
        ScoreOracle scores_,
        uint256 signerKey_,
        EscrowDriver[3] memory drivers_,
        address[3] memory hooks_
    ) {
        (evaluator, scores, signerKey) = (evaluator_, scores_, signerKey_);
        (_drivers, _hooks) = (drivers_, hooks_);
        time = uint64(block.timestamp);
    }

    modifier step() {
        vm.warp(time);
        _;
    }

    function jobs() external view returns (Job[] memory) {
        return _jobs;
    }

    function generationOf(EscrowDriver driver) external view returns (uint256) {
        if (driver == _drivers[0]) return 0;
        return driver == _drivers[1] ? 1 : 2;
    }

    /// @dev A submitted job; half of them go through the gate first.
    function submit(uint256 seed, uint8 score) external step {
        EscrowDriver driver = _drivers[seed % 3];
        address provider = address(uint160(0xB000 + seed % 5));
        scores.publishScore(provider, 60 + score % 41, time);
        address hook = seed % 2 == 0 ? _hooks[seed % 3] : address(0);
        uint256 life = 1 hours + (seed % 72) * 1 hours;
        uint256 id = driver.create(address(0xC1), provider, address(evaluator), time + life, hook);
        driver.setBudget(id, BUDGET);
        driver.fund(id);
        driver.submit(id, keccak256(abi.encode(seed)));
        _jobs.push(Job(driver, id, 0, 0, 0));
    }

    /// @dev The provider falls from grace while its jobs are under way.
    function disgrace(uint256 seed) external step {
        scores.publishSanctioned(address(uint160(0xB000 + seed % 5)));
    }

    function advance(uint256 hours_) external {
        time += uint64(1 + hours_ % 10) * 1 hours;
    }

    function settle(uint256 seed, uint8 decision, bytes32 evidence) external step {
        if (_jobs.length == 0) return;
        Job storage job = _jobs[seed % _jobs.length];
        _bring(job, _verdict(job, 1 + decision % 2, evidence));
    }

    /// @dev Two verdicts for one job, whatever they say.
    function settleTwice(uint256 seed, uint8 first, uint8 second) external step {
        if (_jobs.length == 0) return;
        Job storage job = _jobs[seed % _jobs.length];
        _bring(job, _verdict(job, 1 + first % 2, bytes32(seed)));
        _bring(job, _verdict(job, 1 + second % 2, bytes32(~seed)));
    }

    /// @dev The escrow cannot pay: nothing may be left of the attempt, and later it works.
    function settleWhileItFails(uint256 seed, uint8 decision) external step {
        if (_jobs.length == 0) return;
        Job storage job = _jobs[seed % _jobs.length];
        UsdCoin usdc = job.driver.usdc();
        address escrow = job.driver.escrow();
        uint256 all = usdc.balanceOf(escrow);
        vm.prank(escrow);
        usdc.transfer(address(this), all);
        IVerdictEvaluator.Verdict memory verdict = _verdict(job, 1 + decision % 2, bytes32(seed));
        uint8 before = evaluator.decisionOf(escrow, job.id);
        bytes memory signature = _sign(verdict);
        try evaluator.settle(escrow, job.id, verdict, signature) {
            failureUsedVerdict = true;
        } catch {
            if (evaluator.decisionOf(escrow, job.id) != before) failureUsedVerdict = true;
        }
        usdc.transfer(escrow, all);
        bool possible = _isOpenToVerdicts(job);
        _bring(job, verdict);
        if (possible && job.decision == 0) failureUsedVerdict = true;
    }

    function hold(uint256 seed, bytes32 evidence) external step {
        if (_jobs.length == 0) return;
        Job storage job = _jobs[seed % _jobs.length];
        IVerdictEvaluator.Verdict memory verdict = _verdict(job, 3, evidence);
        bytes32 before = _stateOf(job);
        bytes memory signature = _sign(verdict);
        try evaluator.hold(verdict.escrow, job.id, verdict, signature) {
            ++holds;
            job.newestHold = evidence;
        } catch {}
        if (_stateOf(job) != before) holdMovedEscrow = true;
    }

    function bringUnsigned(uint256 seed, uint8 decision, bytes calldata signature) external step {
        if (_jobs.length == 0) return;
        Job storage job = _jobs[seed % _jobs.length];
        IVerdictEvaluator.Verdict memory verdict = _verdict(job, decision, bytes32(seed));
        try evaluator.settle(verdict.escrow, job.id, verdict, signature) {
            job.terminalCalls += 100;
        } catch {}
    }

    /// @dev Past its end anyone must get the money out, hook or not.
    function expire(uint256 seed) external step {
        if (_jobs.length == 0) return;
        Job storage job = _jobs[seed % _jobs.length];
        if (_statusOf(job) != IJobEscrowAdapter.JobStatus.Submitted) return;
        if (block.timestamp < job.driver.endOf(job.id)) return;
        try job.driver.claimRefund(job.id) {}
        catch {
            terminalBlocked = true;
        }
    }

    function _bring(Job storage job, IVerdictEvaluator.Verdict memory verdict) private {
        bool possible = _isOpenToVerdicts(job);
        bytes memory signature = _sign(verdict);
        try evaluator.settle(verdict.escrow, job.id, verdict, signature) {
            ++settled;
            ++job.terminalCalls;
            job.decision = verdict.decision;
        } catch {
            // A signed verdict must settle a submitted job as long as the job has not ended.
            if (possible) terminalBlocked = true;
        }
    }

    function _isOpenToVerdicts(Job storage job) private view returns (bool) {
        return _statusOf(job) == IJobEscrowAdapter.JobStatus.Submitted;
    }

    function _statusOf(Job storage job) private view returns (IJobEscrowAdapter.JobStatus) {
        return job.driver.read(job.id).status;
    }

    function _stateOf(Job storage job) private view returns (bytes32) {
        address escrow = job.driver.escrow();
        return keccak256(abi.encode(job.driver.read(job.id), job.driver.usdc().balanceOf(escrow)));
    }

    function _verdict(Job storage job, uint8 decision, bytes32 evidence)
        private
        view
        returns (IVerdictEvaluator.Verdict memory)
    {
        return IVerdictEvaluator.Verdict({
            escrow: job.driver.escrow(),
            jobId: job.id,
            deliverable: bytes32(0),
            specHash: bytes32(0),
            decision: decision,
            score: 50,
            confidenceBps: 5_000,
            evidenceHash: evidence,
            issuedAt: time,
            deadline: time + 24 hours
        });
    }

    function _sign(IVerdictEvaluator.Verdict memory verdict) private view returns (bytes memory) {
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(signerKey, evaluator.verdictDigest(verdict));
        return abi.encodePacked(r, s, v);
    }
}
