// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IJobEscrowAdapter} from "../../contracts/interfaces/IJobEscrowAdapter.sol";
import {IVerdictEvaluator} from "../../contracts/interfaces/IVerdictEvaluator.sol";
import {EscrowDriver} from "./escrow/EscrowDriver.sol";
import {OnG1, OnG3, OnV3} from "./escrow/EscrowFixture.sol";
import {HookOfTests} from "./escrow/HookOfTests.sol";
import {VerdictFixture} from "./VerdictFixture.sol";

/// @dev Every way in which a job with our evaluator ends, or does not, with each balance before and after. Another job of
/// the same escrow is funded all the time: its money stays.
abstract contract VerdictMoneySuite is VerdictFixture {
    enum End {
        Allow,
        Reject,
        Hold,
        HoldThenAllow,
        HoldThenReject,
        HoldThenExpiry,
        Expiry,
        AllowAfterExpiry,
        RejectAfterExpiry
    }

    struct Balances {
        uint256 client;
        uint256 provider;
        uint256 evaluator;
        uint256 treasury;
        uint256 escrow;
    }

    /// @dev Platform and evaluator, in hundredths of a per cent.
    uint256[2][6] private FEES = [
        [uint256(0), 0],
        [uint256(500), 250],
        [uint256(10_000), 0],
        [uint256(0), 10_000],
        [uint256(3_333), 1],
        [uint256(9_999), 1]
    ];
    uint256[4] private BUDGETS = [uint256(1), 3, 100e6, 99_999_999_999];

    function setUp() public override {
        super.setUp();
        _submitted();
    }

    /// @dev Whether a hook is asked before a refund.
    function _hookStopsRefund() internal view virtual returns (bool) {
        return false;
    }

    function test_EveryEndMovesTheBudgetExactly() external {
        for (uint256 fee; fee < FEES.length; ++fee) {
            driver.setFees(FEES[fee][0], FEES[fee][1]);
            for (uint256 budget; budget < BUDGETS.length; ++budget) {
                for (uint256 end; end <= uint256(type(End).max); ++end) {
                    _checkEnd(End(end), BUDGETS[budget], FEES[fee]);
                }
            }
        }
    }

    function test_NothingMovesBeforeTheWorkIsSubmitted() external {
        uint256 jobId = _priced(address(0));
        _movesNothing(jobId);
        driver.fund(jobId);
        _movesNothing(jobId);
    }

    function test_NothingMovesAfterTheEnd() external {
        for (uint256 end; end <= uint256(type(End).max); ++end) {
            if (End(end) == End.Hold) continue;
            uint256 jobId = _job(BUDGET);
            _bring(End(end), jobId);
            _movesNothing(jobId);
            vm.warp(driver.endOf(jobId));
            Balances memory before = _balances();
            vm.expectRevert();
            driver.claimRefund(jobId);
            _assertBalances(before, "claimed after the end");
        }
    }

    function test_AHookThatRefusesDelaysAndChangesNothing() external {
        driver.setFees(500, 250);
        HookOfTests hook = new HookOfTests();
        driver.allowHook(address(hook));
        for (uint8 decision = ALLOW; decision <= REJECT; ++decision) {
            uint256 jobId = _submitted(address(hook));
            IVerdictEvaluator.Verdict memory verdict = _verdict(jobId, decision);
            Balances memory before = _balances();
            hook.block_(true);
            _refusesToSettle(verdict, abi.encodeWithSignature("Error(string)", "hook says no"));
            _assertBalances(before, "hook refuses");
            hook.block_(false);
            _settle(verdict);
            _assertBalances(_after(before, decision == ALLOW, BUDGET, [uint256(500), 250]), "hook agrees");
        }
    }

    function test_AHookThatRefusesForGoodEndsInARefundOrNothing() external {
        HookOfTests hook = new HookOfTests();
        driver.allowHook(address(hook));
        uint256 jobId = _submitted(address(hook));
        hook.block_(true);
        vm.warp(driver.endOf(jobId));
        Balances memory before = _balances();
        if (_hookStopsRefund()) {
            vm.expectRevert("hook says no");
            driver.claimRefund(jobId);
            _assertBalances(before, "the hook holds the money back");
            hook.block_(false);
        }
        driver.claimRefund(jobId);
        _assertBalances(_after(before, false, BUDGET, [uint256(0), 0]), "refunded");
    }

    function test_AnEscrowWithoutTheMoneyMovesNone() external {
        uint256 jobId = _job(BUDGET);
        uint256 held = usdc.balanceOf(escrow);
        vm.prank(escrow);
        usdc.transfer(STRANGER, held - BUDGET + 1);
        for (uint8 decision = ALLOW; decision <= REJECT; ++decision) {
            IVerdictEvaluator.Verdict memory verdict = _verdict(jobId, decision);
            bytes memory signature = _sign(SIGNER_KEY, verdict);
            Balances memory before = _balances();
            vm.expectRevert();
            evaluator.settle(escrow, jobId, verdict, signature);
            _assertBalances(before, "no money");
        }
        _assertStatus(jobId, IJobEscrowAdapter.JobStatus.Submitted);
    }

    function _checkEnd(End end, uint256 budget, uint256[2] memory fees) private {
        uint256 jobId = _job(budget);
        Balances memory before = _balances();
        _bring(end, jobId);
        string memory name = string.concat(vm.toString(uint256(end)), " of ", vm.toString(budget));
        if (end == End.Hold) {
            _assertBalances(before, name);
            _assertStatus(jobId, IJobEscrowAdapter.JobStatus.Submitted);
            return;
        }
        bool isPaid = end == End.Allow || end == End.HoldThenAllow || end == End.AllowAfterExpiry;
        _assertBalances(_after(before, isPaid, budget, fees), name);
    }

    /// @dev A submitted job of this budget, from now on.
    function _job(uint256 budget) private returns (uint256 jobId) {
        jobId = driver.create(CLIENT, PROVIDER, _evaluator(), block.timestamp + LIFE, address(0));
        driver.setBudget(jobId, budget);
        driver.fund(jobId);
        driver.submit(jobId, WORK);
    }

    function _bring(End end, uint256 jobId) private {
        if (
            end == End.Hold || end == End.HoldThenAllow || end == End.HoldThenReject
                || end == End.HoldThenExpiry
        ) {
            _hold(_verdict(jobId, HOLD));
        }
        if (end == End.AllowAfterExpiry || end == End.RejectAfterExpiry) {
            vm.warp(driver.read(jobId).expiredAt);
        }
        if (end == End.HoldThenExpiry || end == End.Expiry) {
            vm.warp(driver.endOf(jobId));
            driver.claimRefund(jobId);
        } else if (end == End.Allow || end == End.HoldThenAllow || end == End.AllowAfterExpiry) {
            _settle(_verdict(jobId, ALLOW));
        } else if (end != End.Hold) {
            _settle(_verdict(jobId, REJECT));
        }
    }

    function _movesNothing(uint256 jobId) private {
        Balances memory before = _balances();
        for (uint8 decision = ALLOW; decision <= HOLD; ++decision) {
            IVerdictEvaluator.Verdict memory verdict = _verdict(jobId, decision);
            bytes memory signature = _sign(SIGNER_KEY, verdict);
            vm.expectRevert();
            if (decision == HOLD) evaluator.hold(escrow, jobId, verdict, signature);
            else evaluator.settle(escrow, jobId, verdict, signature);
        }
        _assertBalances(before, "moves nothing");
    }

    function _after(Balances memory before, bool isPaid, uint256 budget, uint256[2] memory fees)
        private
        pure
        returns (Balances memory balances)
    {
        uint256 platform = isPaid ? budget * fees[0] / 10_000 : 0;
        uint256 fee = isPaid ? budget * fees[1] / 10_000 : 0;
        balances = Balances({
            client: before.client + (isPaid ? 0 : budget),
            provider: before.provider + (isPaid ? budget - platform - fee : 0),
            evaluator: before.evaluator + fee,
            treasury: before.treasury + platform,
            escrow: before.escrow - budget
        });
    }

    function _balances() private view returns (Balances memory) {
        return Balances({
            client: usdc.balanceOf(CLIENT),
            provider: usdc.balanceOf(PROVIDER),
            evaluator: usdc.balanceOf(address(evaluator)),
            treasury: usdc.balanceOf(driver.TREASURY()),
            escrow: usdc.balanceOf(escrow)
        });
    }

    function _assertBalances(Balances memory expected, string memory name) private {
        Balances memory found = _balances();
        assertEq(found.client, expected.client, string.concat("client: ", name));
        assertEq(found.provider, expected.provider, string.concat("provider: ", name));
        assertEq(found.evaluator, expected.evaluator, string.concat("evaluator: ", name));
        assertEq(found.treasury, expected.treasury, string.concat("treasury: ", name));
        assertEq(found.escrow, expected.escrow, string.concat("escrow: ", name));
    }
}

/// @dev Escrows in which the client may be its own provider.
abstract contract SameAccountSuite is VerdictMoneySuite {
    function test_AClientThatIsItsOwnProviderGetsTheMoneyOnce() external {
        driver.setFees(500, 250);
        for (uint8 decision = ALLOW; decision <= REJECT; ++decision) {
            uint256 jobId = driver.create(CLIENT, CLIENT, _evaluator(), block.timestamp + LIFE, address(0));
            driver.setBudget(jobId, BUDGET);
            driver.fund(jobId);
            driver.submit(jobId, WORK);
            (uint256 client, uint256 held) = (usdc.balanceOf(CLIENT), usdc.balanceOf(escrow));
            _settle(_verdict(jobId, decision));
            assertEq(usdc.balanceOf(CLIENT) - client, decision == ALLOW ? 92.5e6 : BUDGET, "client");
            assertEq(held - usdc.balanceOf(escrow), BUDGET, "escrow");
        }
    }
}

contract VerdictMoneyG1Test is SameAccountSuite, OnG1 {}

contract VerdictMoneyG3Test is VerdictMoneySuite, OnG3 {
    function _hookStopsRefund() internal pure override returns (bool) {
        return true;
    }

    function test_RevertWhen_TheClientIsItsOwnProvider() external {
        EscrowDriver driver_ = driver;
        address evaluator_ = _evaluator();
        vm.expectRevert();
        driver_.create(CLIENT, CLIENT, evaluator_, block.timestamp + LIFE, address(0));
    }

    /// @dev This generation takes jobs without a budget.
    function test_AJobWithoutABudgetEndsAndMovesNothing() external {
        driver.setFees(500, 250);
        for (uint8 decision = ALLOW; decision <= REJECT; ++decision) {
            uint256 held = usdc.balanceOf(escrow);
            uint256 jobId = _created(address(0));
            driver.submit(jobId, WORK);
            _settle(_verdict(jobId, decision));
            assertEq(usdc.balanceOf(escrow), held, "escrow");
            assertEq(usdc.balanceOf(PROVIDER) + usdc.balanceOf(CLIENT), 0, "parties");
            assertEq(evaluator.decisionOf(escrow, jobId), decision, "decision");
        }
    }
}

contract VerdictMoneyV3Test is SameAccountSuite, OnV3 {}
