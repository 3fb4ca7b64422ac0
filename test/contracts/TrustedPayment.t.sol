// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {PRBTest} from "@prb/test/PRBTest.sol";

import {IAgentHealthOracle} from "../../contracts/interfaces/IAgentHealthOracle.sol";
import {UsdCoin} from "../../devnet/contracts/UsdCoin.sol";
import {TrustedPayment} from "../../examples/TrustedPayment.sol";
import {ScoreOracle} from "./ScoreOracle.sol";

/// pay
/// ├── grade A or B
/// │   ├── the day's payments stay within the safe amount → the agent is paid
/// │   └── they would exceed it → held
/// ├── grade C, no record, little history, or an old record → held
/// │   ├── released → the agent is paid, once, and not while it is sanctioned
/// │   └── taken back → the payer has it again, once
/// └── grade D or below, or sanctioned → Refused
contract TrustedPaymentTest is PRBTest {
    uint64 private constant NOW = 1_790_000_000;
    address private constant AGENT = address(0xA6E47);
    address private constant PAYER = address(0xBA1E);
    uint256 private constant USD = 1e6;
    /// @dev The code of 20 USD: 2,000 cents need no exponent.
    uint16 private constant SAFE_20_USD = 2000;

    ScoreOracle private scores;
    UsdCoin private usdc;
    TrustedPayment private payment;

    function setUp() public {
        vm.warp(NOW);
        scores = new ScoreOracle();
        usdc = new UsdCoin(address(this));
        payment = new TrustedPayment(scores.oracle(), address(usdc), 1 days);
        usdc.mint(PAYER, 100 * USD);
        vm.startPrank(PAYER);
        usdc.approve(address(payment), type(uint256).max);
    }

    function test_AGoodScoreIsPaidAtOnceUpToTheSafeAmount() external {
        scores.publishBacked(AGENT, 80, SAFE_20_USD, NOW);
        payment.pay(AGENT, 20 * USD);
        assertEq(usdc.balanceOf(AGENT), 20 * USD);
        assertEq(payment.held(PAYER, AGENT), 0);
    }

    function test_AboveTheSafeAmountIsHeld() external {
        scores.publishBacked(AGENT, 80, SAFE_20_USD, NOW);
        payment.pay(AGENT, 20 * USD + 1);
        assertEq(usdc.balanceOf(AGENT), 0);
        assertEq(payment.held(PAYER, AGENT), 20 * USD + 1);
    }

    function test_ManyPaymentsOfADayAreNoMoreThanOne() external {
        scores.publishBacked(AGENT, 80, SAFE_20_USD, NOW);
        for (uint256 i; i < 3; ++i) {
            payment.pay(AGENT, 10 * USD);
        }
        assertEq(usdc.balanceOf(AGENT), 20 * USD);
        assertEq(payment.held(PAYER, AGENT), 10 * USD);
        vm.warp(NOW + 1 days);
        payment.pay(AGENT, 20 * USD);
        assertEq(usdc.balanceOf(AGENT), 40 * USD);
    }

    function test_AMiddlingScoreIsHeldAndReleasedOnce() external {
        scores.publishBacked(AGENT, 70, SAFE_20_USD, NOW);
        payment.pay(AGENT, USD);
        assertEq(usdc.balanceOf(AGENT), 0);
        payment.release(AGENT);
        assertEq(usdc.balanceOf(AGENT), USD);
        vm.expectRevert(abi.encodeWithSelector(TrustedPayment.NothingHeld.selector, PAYER, AGENT));
        payment.release(AGENT);
    }

    function test_WhoeverHasNoScoreIsHeldAndNotRefused() external {
        payment.pay(AGENT, USD);
        scores.publishInsufficient(address(0x1), NOW);
        payment.pay(address(0x1), USD);
        assertEq(payment.held(PAYER, AGENT) + payment.held(PAYER, address(0x1)), 2 * USD);
    }

    function test_AnOldRecordDecidesNothing() external {
        scores.publishBacked(AGENT, 95, SAFE_20_USD, NOW - 1 days - 1);
        payment.pay(AGENT, USD);
        assertEq(payment.held(PAYER, AGENT), USD);
    }

    function test_APoorScoreIsRefused() external {
        scores.publishBacked(AGENT, 59, SAFE_20_USD, NOW);
        vm.expectRevert(
            abi.encodeWithSelector(TrustedPayment.Refused.selector, AGENT, IAgentHealthOracle.Route.Reject)
        );
        payment.pay(AGENT, USD);
    }

    function test_NothingIsReleasedToAWalletListedMeanwhile() external {
        scores.publishScore(AGENT, 70, NOW);
        payment.pay(AGENT, USD);
        scores.publishSanctioned(AGENT);
        vm.expectRevert(
            abi.encodeWithSelector(TrustedPayment.Refused.selector, AGENT, IAgentHealthOracle.Route.Reject)
        );
        payment.release(AGENT);
        payment.takeBack(AGENT);
        assertEq(usdc.balanceOf(PAYER), 100 * USD);
    }

    function test_WhatIsTakenBackComesBackOnce() external {
        payment.pay(AGENT, USD);
        payment.takeBack(AGENT);
        assertEq(usdc.balanceOf(PAYER), 100 * USD);
        vm.expectRevert(abi.encodeWithSelector(TrustedPayment.NothingHeld.selector, PAYER, AGENT));
        payment.takeBack(AGENT);
    }
}
