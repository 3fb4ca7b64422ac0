// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IAssuranceAccounts} from "../../contracts/interfaces/IAssuranceAccounts.sol";
import {IJobEscrowAdapter} from "../../contracts/interfaces/IJobEscrowAdapter.sol";
import {OnG1, OnG3, OnV3} from "./escrow/EscrowFixture.sol";
import {AssuranceFixture} from "./AssuranceFixture.sol";

/// commitToJob
/// ├── nothing → ZeroAmount; more than is available, unbonding money included → AboveAvailable
/// ├── a job that had a commitment → AlreadyCommitted
/// ├── the escrow is not allowed → EscrowNotAllowed; its code changed → EscrowCodeChanged
/// ├── the job names another evaluator → OtherEvaluator; another provider → NotProvider
/// ├── it is not submitted → JobNotSubmitted; it is over → JobOver; it ends too late → JobTooLong
/// └── otherwise the amount is locked for the job's client
/// slash
/// ├── no active commitment → NotCommitted
/// ├── no REJECT settled, whatever else happened → NotRejected
/// └── otherwise, for any sender and at any time, the client gets it once
/// releaseCommitment
/// ├── a REJECT settled → RejectSettled; the job is open → JobStillOpen
/// └── otherwise, for any sender, it is available again: after any other end, or a day after the expiry
abstract contract AssuranceSlashSuite is AssuranceFixture {
    function test_ASettledRejectPaysTheClientOnce() external {
        uint256 jobId = _rejected();
        assertEq(usdc.balanceOf(CLIENT), BUDGET, "the budget came back");
        _expectAccountsEvent();
        emit IAssuranceAccounts.CommitmentSlashed(PROVIDER, escrow, jobId, CLIENT, PART);
        vm.prank(STRANGER);
        accounts.slash(escrow, jobId);
        assertEq(usdc.balanceOf(CLIENT), BUDGET + PART, "client");
        assertEq(usdc.balanceOf(address(accounts)), BOND - PART, "held");
        _assertAccount(BOND - PART, 0, 0, PART);

        bytes memory again = abi.encodeWithSelector(
            IAssuranceAccounts.NotCommitted.selector,
            escrow,
            jobId,
            IAssuranceAccounts.CommitmentState.Slashed
        );
        vm.expectRevert(again);
        accounts.slash(escrow, jobId);
        vm.expectRevert(again);
        accounts.releaseCommitment(escrow, jobId);
    }

    function test_ACommitmentLocksTheAmountForTheJobsClient() external {
        uint256 jobId = _submitted();
        uint256 expiry = NOW + LIFE + 1 days;
        _expectAccountsEvent();
        emit IAssuranceAccounts.JobCommitted(PROVIDER, escrow, jobId, CLIENT, PART, expiry, BOND - PART);
        _commit(jobId, PART);
        _assertAccount(BOND - PART, PART, 0, 0);
        IAssuranceAccounts.Commitment memory made = accounts.commitmentOf(escrow, jobId);
        assertEq(made.wallet, PROVIDER, "wallet");
        assertEq(made.client, CLIENT, "client");
        assertEq(made.amount, PART, "amount");
        assertEq(made.expiry, expiry, "expiry");
        assertEq(made.adapter, address(driver.adapter()), "adapter");
        assertTrue(made.state == IAssuranceAccounts.CommitmentState.Active, "state");
    }

    function test_RevertWhen_NoRejectHasSettled() external {
        uint256 jobId = _committed();
        _refusesToSlash(jobId, 0, 2);
        _hold(_verdict(jobId, HOLD));
        _refusesToSlash(jobId, 0, 2);
        _settle(_verdict(jobId, ALLOW));
        _refusesToSlash(jobId, ALLOW, 3);

        uint256 expired = _committed();
        vm.warp(driver.endOf(expired));
        driver.claimRefund(expired);
        _refusesToSlash(expired, 0, 5);
    }

    /// @dev A signed REJECT that was not brought is no settled one.
    function test_RevertWhen_TheEvaluatorsSignerOrOwnerAsks() external {
        uint256 jobId = _committed();
        address[3] memory ours = [signer, OWNER, address(evaluator)];
        for (uint256 i; i < 3; ++i) {
            vm.prank(ours[i]);
            vm.expectRevert(
                abi.encodeWithSelector(IAssuranceAccounts.NotRejected.selector, escrow, jobId, 0, 2)
            );
            accounts.slash(escrow, jobId);
        }
    }

    function test_ASettledRejectCanOnlyBeSlashedHoweverLate() external {
        uint256 jobId = _rejected();
        vm.warp(NOW + 3650 days);
        vm.expectRevert(abi.encodeWithSelector(IAssuranceAccounts.RejectSettled.selector, escrow, jobId));
        accounts.releaseCommitment(escrow, jobId);
        accounts.slash(escrow, jobId);
        assertEq(usdc.balanceOf(CLIENT), BUDGET + PART, "client");
    }

    /// @dev The owner of the evaluator takes the escrow off its list after the commitment.
    function test_TheOwnerCannotPreventTheSlashOfASettledReject() external {
        uint256 jobId = _rejected();
        vm.prank(OWNER);
        evaluator.setEscrow(escrow, address(0));
        accounts.slash(escrow, jobId);
        assertEq(usdc.balanceOf(CLIENT), BUDGET + PART, "client");
    }

    function test_AllowAndExpiryGiveItBack() external {
        uint256 allowed = _committed();
        uint256 expired = _committed();
        _refusesToRelease(allowed);
        _settle(_verdict(allowed, ALLOW));
        vm.prank(STRANGER);
        accounts.releaseCommitment(escrow, allowed);
        _assertAccount(BOND - PART, PART, 0, 0);
        vm.warp(driver.endOf(expired));
        _refusesToRelease(expired);
        driver.claimRefund(expired);
        accounts.releaseCommitment(escrow, expired);
        _assertAccount(BOND, 0, 0, 0);
    }

    function test_ADayAfterTheExpiryItIsReleasedWhateverTheEscrowDoes() external {
        uint256 jobId = _committed();
        vm.warp(NOW + LIFE + 1 days);
        _refusesToRelease(jobId);
        vm.warp(NOW + LIFE + 1 days + 1);
        vm.etch(escrow, hex"fe");
        accounts.releaseCommitment(escrow, jobId);
        _assertAccount(BOND, 0, 0, 0);
    }

    function test_RevertWhen_TheJobIsNotSubmitted() external {
        uint256 jobId = _funded(address(0));
        _refusesToCommit(
            jobId, abi.encodeWithSelector(IAssuranceAccounts.JobNotSubmitted.selector, escrow, jobId, 1)
        );
        uint256 ended = _submitted();
        _settle(_verdict(ended, REJECT));
        _refusesToCommit(
            ended, abi.encodeWithSelector(IAssuranceAccounts.JobNotSubmitted.selector, escrow, ended, 4)
        );
    }

    function test_RevertWhen_TheCallerIsNotTheProvider() external {
        uint256 jobId = _submitted();
        _deposit(STRANGER, PART);
        vm.expectRevert(
            abi.encodeWithSelector(IAssuranceAccounts.NotProvider.selector, escrow, jobId, PROVIDER)
        );
        vm.prank(STRANGER);
        accounts.commitToJob(escrow, jobId, PART);
    }

    function test_RevertWhen_TheJobNamesAnotherEvaluator() external {
        uint256 jobId = driver.create(CLIENT, PROVIDER, STRANGER, NOW + LIFE, address(0));
        driver.setBudget(jobId, BUDGET);
        driver.fund(jobId);
        driver.submit(jobId, WORK);
        _refusesToCommit(
            jobId, abi.encodeWithSelector(IAssuranceAccounts.OtherEvaluator.selector, escrow, jobId, STRANGER)
        );
        driver.rejectAs(STRANGER, jobId);
        _refusesToCommit(
            jobId, abi.encodeWithSelector(IAssuranceAccounts.OtherEvaluator.selector, escrow, jobId, STRANGER)
        );
    }

    function test_RevertWhen_TheEscrowIsNotAllowedOrItsCodeChanged() external {
        uint256 jobId = _submitted();
        bytes32 before = escrow.codehash;
        bytes memory code = escrow.code;
        vm.etch(escrow, bytes.concat(code, hex"00"));
        _refusesToCommit(
            jobId,
            abi.encodeWithSelector(
                IAssuranceAccounts.EscrowCodeChanged.selector, escrow, before, escrow.codehash
            )
        );
        vm.etch(escrow, code);
        vm.prank(OWNER);
        evaluator.setEscrow(escrow, address(0));
        _refusesToCommit(jobId, abi.encodeWithSelector(IAssuranceAccounts.EscrowNotAllowed.selector, escrow));
    }

    function test_RevertWhen_TheJobOutlastsTheDelayOrIsOver() external {
        uint256 latest = NOW + 29 days;
        uint256 fitting = _submittedUntil(latest);
        uint256 tooLong = _submittedUntil(latest + 1);
        _commit(fitting, 1);
        _refusesToCommit(
            tooLong, abi.encodeWithSelector(IAssuranceAccounts.JobTooLong.selector, latest + 1, latest)
        );
        uint256 over = _submitted();
        vm.warp(NOW + LIFE);
        _refusesToCommit(
            over, abi.encodeWithSelector(IAssuranceAccounts.JobOver.selector, NOW + LIFE, NOW + LIFE)
        );
    }

    function test_RevertWhen_TheAmountIsNotThereOrTheJobHasACommitment() external {
        uint256 jobId = _submitted();
        vm.expectRevert(abi.encodeWithSelector(IAssuranceAccounts.ZeroAmount.selector));
        _commit(jobId, 0);
        vm.prank(PROVIDER);
        accounts.requestWithdrawal(BOND - PART);
        vm.expectRevert(abi.encodeWithSelector(IAssuranceAccounts.AboveAvailable.selector, PART + 1, PART));
        _commit(jobId, PART + 1);
        _commit(jobId, 1);
        _refusesToCommit(
            jobId, abi.encodeWithSelector(IAssuranceAccounts.AlreadyCommitted.selector, escrow, jobId)
        );
        _settle(_verdict(jobId, ALLOW));
        accounts.releaseCommitment(escrow, jobId);
        _refusesToCommit(
            jobId, abi.encodeWithSelector(IAssuranceAccounts.AlreadyCommitted.selector, escrow, jobId)
        );
    }

    /// @dev A ring empties its bond by a REJECT of its own job: it gets no part that is committed to another client.
    function test_ARejectOfAnOwnClientTakesNothingFromOtherCommitments() external {
        uint256 honest = _committed();
        uint256 own = driver.create(STRANGER, PROVIDER, address(evaluator), NOW + LIFE, address(0));
        driver.setBudget(own, 1);
        driver.fund(own);
        driver.submit(own, WORK);
        vm.expectRevert(abi.encodeWithSelector(IAssuranceAccounts.AboveAvailable.selector, BOND, BOND - PART));
        _commit(own, BOND);
        _commit(own, BOND - PART);
        _settle(_verdict(own, REJECT));
        accounts.slash(escrow, own);
        assertEq(usdc.balanceOf(STRANGER), BOND - PART + 1, "the ring's own money");
        _settle(_verdict(honest, REJECT));
        accounts.slash(escrow, honest);
        assertEq(usdc.balanceOf(CLIENT), BUDGET + PART, "the honest client");
        _assertAccount(0, 0, 0, BOND);
    }

    function testFuzz_OnlyASettledRejectSlashes(uint8 decision, uint96 amount, uint32 wait) external {
        uint256 part = 1 + uint256(amount) % BOND;
        uint256 jobId = _submitted();
        _commit(jobId, part);
        decision = decision % 4;
        if (decision == ALLOW || decision == REJECT) _settle(_verdict(jobId, decision));
        if (decision == HOLD) _hold(_verdict(jobId, HOLD));
        vm.warp(NOW + wait);
        (bool slashed,) = address(accounts).call(abi.encodeCall(accounts.slash, (escrow, jobId)));
        assertEq(slashed, decision == REJECT, "slashed");
        (bool released,) = address(accounts).call(abi.encodeCall(accounts.releaseCommitment, (escrow, jobId)));
        bool over = wait > LIFE + 1 days;
        assertEq(released, decision == ALLOW || (decision != REJECT && over), "released");
        uint256 rest = slashed ? BOND - part : BOND;
        assertEq(usdc.balanceOf(address(accounts)), rest, "held");
        bool locked = !slashed && !released;
        _assertAccount(locked ? BOND - part : rest, locked ? part : 0, 0, slashed ? part : 0);
    }

    function _submittedUntil(uint256 expiredAt) private returns (uint256 jobId) {
        jobId = driver.create(CLIENT, PROVIDER, address(evaluator), expiredAt, address(0));
        driver.setBudget(jobId, BUDGET);
        driver.fund(jobId);
        driver.submit(jobId, WORK);
    }

    function _refusesToCommit(uint256 jobId, bytes memory reason) private {
        vm.expectRevert(reason);
        vm.prank(PROVIDER);
        accounts.commitToJob(escrow, jobId, 1);
    }

    function _refusesToSlash(uint256 jobId, uint8 decision, uint8 status) private {
        vm.expectRevert(
            abi.encodeWithSelector(IAssuranceAccounts.NotRejected.selector, escrow, jobId, decision, status)
        );
        accounts.slash(escrow, jobId);
    }

    function _refusesToRelease(uint256 jobId) private {
        uint256 expiry = accounts.commitmentOf(escrow, jobId).expiry;
        vm.expectRevert(
            abi.encodeWithSelector(IAssuranceAccounts.JobStillOpen.selector, escrow, jobId, expiry)
        );
        accounts.releaseCommitment(escrow, jobId);
    }
}

contract AssuranceSlashOnG1Test is AssuranceSlashSuite, OnG1 {}

contract AssuranceSlashOnG3Test is AssuranceSlashSuite, OnG3 {}

contract AssuranceSlashOnV3Test is AssuranceSlashSuite, OnV3 {}
