// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {Vm} from "@prb/test/Vm.sol";

import {IAssuranceAccounts} from "../../contracts/interfaces/IAssuranceAccounts.sol";
import {IJobEscrowAdapter} from "../../contracts/interfaces/IJobEscrowAdapter.sol";
import {IVerdictEvaluator} from "../../contracts/interfaces/IVerdictEvaluator.sol";
import {UsdCoin} from "../../devnet/contracts/UsdCoin.sol";
import {EscrowDriver} from "./escrow/EscrowDriver.sol";

/// @dev Has three wallets deposit, withdraw and commit at random while jobs on all generations are decided, expire, and are
/// slashed and released by strangers; keeps its own account of where the money went.
contract AssuranceHandler {
    struct Job {
        EscrowDriver driver;
        uint256 id;
        address wallet;
        uint256 committedAt;
        uint256 committed;
        uint256 slashes;
        uint256 releases;
    }

    Vm private constant vm = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));
    uint256 private constant BUDGET = 10e6;
    uint8 private constant REJECT = 2;
    address private constant RECEIVER = address(0xEECE);

    IAssuranceAccounts public immutable accounts;
    IVerdictEvaluator private immutable evaluator;
    UsdCoin private immutable usdc;
    uint256 private immutable signerKey;
    EscrowDriver[3] private _drivers;
    Job[] private _jobs;

    mapping(address wallet => uint256) public deposited;
    mapping(address wallet => uint256) public withdrawn;
    mapping(address wallet => uint256) public slashed;
    uint64 public time;
    bool public slashedWithoutReject;
    bool public releasedAfterReject;
    bool public rejectNotSlashable;
    bool public otherMovedMoney;
    bool public withdrawnEarly;

    constructor(
        IAssuranceAccounts accounts_,
        IVerdictEvaluator evaluator_,
        UsdCoin usdc_,
        uint256 signerKey_,
        EscrowDriver[3] memory drivers_
    ) {
        (accounts, evaluator, usdc, signerKey) = (accounts_, evaluator_, usdc_, signerKey_);
        _drivers = drivers_;
        time = uint64(block.timestamp);
    }

    modifier step() {
        vm.warp(time);
        _;
    }

    function jobs() external view returns (Job[] memory) {
        return _jobs;
    }

    function wallets() public pure returns (address[3] memory) {
        return [address(0xB000), address(0xB001), address(0xB002)];
    }

    function clientOf(address wallet) public pure returns (address) {
        return address(uint160(wallet) + 0x1000);
    }

    function advance(uint256 hours_) external {
        time += uint64(1 + hours_ % 240) * 1 hours;
    }

    function deposit(uint256 seed, uint96 amount) external step {
        address wallet = wallets()[seed % 3];
        uint256 part = 1 + amount % 1_000e6;
        address owner = usdc.owner();
        vm.prank(owner);
        usdc.mint(address(this), part);
        usdc.approve(address(accounts), part);
        accounts.depositAssuranceFor(wallet, part);
        deposited[wallet] += part;
    }

    function requestWithdrawal(uint256 seed, uint96 amount) external step {
        address wallet = wallets()[seed % 3];
        vm.prank(wallet);
        try accounts.requestWithdrawal(amount % 500e6) {} catch {}
    }

    function cancelWithdrawal(uint256 seed) external step {
        vm.prank(wallets()[seed % 3]);
        try accounts.cancelWithdrawal() {} catch {}
    }

    /// @dev Tried by a stranger first.
    function withdraw(uint256 seed) external step {
        address wallet = wallets()[seed % 3];
        try accounts.withdraw(RECEIVER) {
            otherMovedMoney = true;
        } catch {}
        IAssuranceAccounts.Account memory account = accounts.getAssuranceAccount(wallet);
        vm.prank(wallet);
        try accounts.withdraw(RECEIVER) {
            if (block.timestamp < account.unbondedAt) withdrawnEarly = true;
            withdrawn[wallet] += account.unbonding;
        } catch {}
    }

    /// @dev A submitted job, to which the wallet commits what it can.
    function submit(uint256 seed, uint96 amount) external step {
        EscrowDriver driver = _drivers[seed % 3];
        address wallet = wallets()[seed / 3 % 3];
        uint256 expiredAt = time + 1 hours + (seed % 32) * 1 days;
        uint256 id = driver.create(clientOf(wallet), wallet, address(evaluator), expiredAt, address(0));
        driver.setBudget(id, BUDGET);
        driver.fund(id);
        driver.submit(id, keccak256(abi.encode(seed)));
        _jobs.push(Job(driver, id, wallet, 0, 0, 0, 0));
        _commit(_jobs[_jobs.length - 1], amount);
    }

    function commitLater(uint256 seed, uint96 amount) external step {
        if (_jobs.length == 0) return;
        _commit(_jobs[seed % _jobs.length], amount);
    }

    function settle(uint256 seed, uint8 decision) external step {
        if (_jobs.length == 0) return;
        Job storage job = _jobs[seed % _jobs.length];
        _bring(job, 1 + decision % 2);
    }

    /// @dev Decided, and at once released, slashed and slashed again, as far as that is let through.
    function reject(uint256 seed) external step {
        if (_jobs.length == 0) return;
        Job storage job = _jobs[seed % _jobs.length];
        _bring(job, REJECT);
        _release(job);
        _slash(job);
        _slash(job);
    }

    function expire(uint256 seed) external step {
        if (_jobs.length == 0) return;
        Job storage job = _jobs[seed % _jobs.length];
        try job.driver.claimRefund(job.id) {} catch {}
    }

    function slash(uint256 seed) external step {
        if (_jobs.length == 0) return;
        _slash(_jobs[seed % _jobs.length]);
    }

    function release(uint256 seed) external step {
        if (_jobs.length == 0) return;
        _release(_jobs[seed % _jobs.length]);
    }

    /// @dev The evaluator's owner takes an escrow off its list and puts it back.
    function setEscrow(uint256 seed, bool allowed) external step {
        EscrowDriver driver = _drivers[seed % 3];
        (address escrow, address adapter) = (driver.escrow(), address(driver.adapter()));
        address owner = evaluator.owner();
        vm.prank(owner);
        evaluator.setEscrow(escrow, allowed ? adapter : address(0));
    }

    function _commit(Job storage job, uint96 amount) private {
        uint256 available = accounts.getAssuranceAccount(job.wallet).available;
        uint256 part = available == 0 ? amount : 1 + amount % available;
        address escrow = job.driver.escrow();
        vm.prank(job.wallet);
        try accounts.commitToJob(escrow, job.id, part) {
            (job.committed, job.committedAt) = (part, block.timestamp);
        } catch {}
    }

    function _release(Job storage job) private {
        bool rejected = _isRejected(job);
        try accounts.releaseCommitment(job.driver.escrow(), job.id) {
            ++job.releases;
            if (rejected) releasedAfterReject = true;
        } catch {}
    }

    function _slash(Job storage job) private {
        bool rejected = _isRejected(job);
        bool active = job.committed != 0 && job.slashes == 0 && job.releases == 0;
        address client = clientOf(job.wallet);
        uint256 before = usdc.balanceOf(client);
        try accounts.slash(job.driver.escrow(), job.id) {
            ++job.slashes;
            slashed[job.wallet] += usdc.balanceOf(client) - before;
            if (!rejected) slashedWithoutReject = true;
        } catch {
            if (rejected && active) rejectNotSlashable = true;
        }
    }

    function _isRejected(Job storage job) private view returns (bool) {
        bool rejected = job.driver.read(job.id).status == IJobEscrowAdapter.JobStatus.Rejected;
        return rejected && evaluator.decisionOf(job.driver.escrow(), job.id) == REJECT;
    }

    function _bring(Job storage job, uint8 decision) private {
        IVerdictEvaluator.Verdict memory verdict = IVerdictEvaluator.Verdict({
            escrow: job.driver.escrow(),
            jobId: job.id,
            deliverable: bytes32(0),
            specHash: bytes32(0),
            decision: decision,
            score: 50,
            confidenceBps: 5_000,
            evidenceHash: keccak256("evidence"),
            issuedAt: time,
            deadline: time + 24 hours
        });
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(signerKey, evaluator.verdictDigest(verdict));
        try evaluator.settle(verdict.escrow, job.id, verdict, abi.encodePacked(r, s, v)) {} catch {}
    }
}
