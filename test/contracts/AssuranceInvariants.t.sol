// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {AssuranceAccounts} from "../../contracts/AssuranceAccounts.sol";
import {IAssuranceAccounts} from "../../contracts/interfaces/IAssuranceAccounts.sol";
import {IJobEscrowAdapter} from "../../contracts/interfaces/IJobEscrowAdapter.sol";
import {AllGenerations} from "./escrow/AllGenerations.sol";
import {EscrowDriver} from "./escrow/EscrowDriver.sol";
import {AssuranceHandler} from "./AssuranceHandler.sol";

contract AssuranceInvariantsTest is AllGenerations {
    uint8 private constant REJECT = 2;

    AssuranceAccounts private accounts;
    AssuranceHandler private handler;

    function setUp() external {
        EscrowDriver[3] memory drivers = _deployAll();
        accounts = new AssuranceAccounts(address(usdc), address(evaluator));
        handler = new AssuranceHandler(accounts, evaluator, usdc, SIGNER_KEY, drivers);
    }

    /// @dev Read by forge: only the handler is called at random.
    function targetContracts() external view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(handler);
    }

    /// 9. A commitment is slashed at most once, and only after a settled REJECT.
    function invariant_ACommitmentIsSlashedAtMostOnceAndOnlyAfterASettledReject() external {
        assertFalse(handler.slashedWithoutReject(), "slashed without a settled REJECT");
        assertFalse(handler.releasedAfterReject(), "released after a settled REJECT");
        assertFalse(handler.rejectNotSlashable(), "a settled REJECT could not be slashed");
        AssuranceHandler.Job[] memory jobs = handler.jobs();
        for (uint256 i; i < jobs.length; ++i) {
            AssuranceHandler.Job memory job = jobs[i];
            assertLte(job.slashes + job.releases, 1, "ends");
            IAssuranceAccounts.Commitment memory made = accounts.commitmentOf(job.driver.escrow(), job.id);
            assertEq(made.amount, job.committed, "amount");
            bool slashed = made.state == IAssuranceAccounts.CommitmentState.Slashed;
            assertEq(slashed, job.slashes == 1, "slashed");
            if (!slashed) continue;
            assertEq(evaluator.decisionOf(job.driver.escrow(), job.id), REJECT, "decision");
            assertTrue(job.driver.statusOf(job.id) == IJobEscrowAdapter.JobStatus.Rejected, "status");
        }
    }

    /// 10. Every deposit is in its account, with the wallet, or with clients of its rejected jobs.
    function invariant_MoneyLeavesOnlyToTheWalletOrToClientsOfItsRejectedJobs() external {
        assertFalse(handler.otherMovedMoney(), "another account withdrew");
        assertFalse(handler.withdrawnEarly(), "withdrawn before the delay");
        uint256 held;
        for (uint256 i; i < 3; ++i) {
            address wallet = handler.wallets()[i];
            IAssuranceAccounts.Account memory account = accounts.getAssuranceAccount(wallet);
            (uint256 lockedSum, uint256 slashedSum) = _sums(wallet);
            assertEq(account.locked, lockedSum, "locked");
            assertEq(account.paidOut, slashedSum, "paid out");
            assertEq(handler.slashed(wallet), slashedSum, "paid to the client");
            uint256 rest = uint256(account.available) + account.locked + account.unbonding;
            uint256 gone = handler.withdrawn(wallet) + account.paidOut;
            assertEq(rest + gone, handler.deposited(wallet), "deposited");
            held += rest;
        }
        assertEq(usdc.balanceOf(address(accounts)), held, "held");
    }

    /// 11. No commitment outlasts the delay of a withdrawal.
    function invariant_NoCommitmentOutlastsTheDelayOfAWithdrawal() external {
        AssuranceHandler.Job[] memory jobs = handler.jobs();
        for (uint256 i; i < jobs.length; ++i) {
            uint256 expiry = accounts.commitmentOf(jobs[i].driver.escrow(), jobs[i].id).expiry;
            if (expiry != 0) assertLte(expiry, jobs[i].committedAt + accounts.UNBONDING_DELAY(), "expiry");
        }
    }

    /// @dev The campaign is worth something only if it commits, slashes, releases and withdraws.
    function test_TheHandlerSlashesReleasesAndWithdraws() external {
        for (uint256 i; i < 9; ++i) {
            handler.deposit(i, 500e6);
        }
        for (uint256 i; i < 9; ++i) {
            handler.submit(i, 100e6);
        }
        for (uint256 i; i < 3; ++i) {
            handler.reject(i);
            handler.settle(3 + i, 0);
            handler.release(3 + i);
            handler.requestWithdrawal(i, 1e6);
        }
        for (uint256 i; i < 4; ++i) {
            handler.advance(239);
        }
        uint256 slashes;
        uint256 releases;
        for (uint256 i; i < 9; ++i) {
            handler.withdraw(i);
            handler.release(i);
            slashes += handler.jobs()[i].slashes;
            releases += handler.jobs()[i].releases;
        }
        assertEq(slashes, 3, "slashes");
        assertEq(releases, 6, "releases");
        assertEq(handler.withdrawn(handler.wallets()[0]), 1e6, "withdrawn");
    }

    function _sums(address wallet) private view returns (uint256 lockedSum, uint256 slashedSum) {
        AssuranceHandler.Job[] memory jobs = handler.jobs();
        for (uint256 i; i < jobs.length; ++i) {
            if (jobs[i].wallet != wallet) continue;
            if (jobs[i].slashes == 1) slashedSum += jobs[i].committed;
            else if (jobs[i].releases == 0) lockedSum += jobs[i].committed;
        }
    }
}
