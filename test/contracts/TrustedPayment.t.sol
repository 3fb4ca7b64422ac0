// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {PRBTest} from "@prb/test/PRBTest.sol";

import {IAgentHealthOracle} from "../../contracts/interfaces/IAgentHealthOracle.sol";
import {TrustedPayment} from "../../examples/TrustedPayment.sol";
import {ScoreOracle} from "./ScoreOracle.sol";

/// @dev Takes what it is sent, and asks for more of it while it is being paid.
contract GreedyPayer {
    TrustedPayment private immutable payment;

    constructor(TrustedPayment payment_) {
        payment = payment_;
    }

    function pay(address agent) external payable {
        payment.pay{value: msg.value}(agent);
    }

    function takeBack(address agent) external {
        payment.takeBack(agent);
    }

    receive() external payable {
        if (payment.held(address(this), address(0xA6E47)) > 0) payment.takeBack(address(0xA6E47));
    }
}

/// pay
/// ├── grade A or B → the agent is paid
/// ├── grade C, no record, little history, or an old record → held
/// │   ├── released → the agent is paid, once, and not while it is sanctioned
/// │   └── taken back → the payer has it again, once, even while it is being paid out
/// └── grade D or below, or sanctioned → Refused
contract TrustedPaymentTest is PRBTest {
    uint64 private constant NOW = 1_790_000_000;
    address private constant AGENT = address(0xA6E47);
    address private constant PAYER = address(0xBA1E);

    ScoreOracle private scores;
    TrustedPayment private payment;

    function setUp() public {
        vm.warp(NOW);
        scores = new ScoreOracle();
        payment = new TrustedPayment(scores.oracle(), 1 days);
        vm.deal(PAYER, 10 ether);
        vm.startPrank(PAYER);
    }

    function test_AGoodScoreIsPaidAtOnce() external {
        scores.publishScore(AGENT, 80, NOW);
        payment.pay{value: 1 ether}(AGENT);
        assertEq(AGENT.balance, 1 ether);
        assertEq(payment.held(PAYER, AGENT), 0);
    }

    function test_AMiddlingScoreIsHeldAndReleasedOnce() external {
        scores.publishScore(AGENT, 70, NOW);
        payment.pay{value: 1 ether}(AGENT);
        assertEq(AGENT.balance, 0);
        payment.release(AGENT);
        assertEq(AGENT.balance, 1 ether);
        vm.expectRevert(abi.encodeWithSelector(TrustedPayment.NothingHeld.selector, PAYER, AGENT));
        payment.release(AGENT);
    }

    function test_WhoeverHasNoScoreIsHeldAndNotRefused() external {
        payment.pay{value: 1 ether}(AGENT);
        scores.publishInsufficient(address(0x1), NOW);
        payment.pay{value: 1 ether}(address(0x1));
        assertEq(payment.held(PAYER, AGENT) + payment.held(PAYER, address(0x1)), 2 ether);
    }

    function test_AnOldRecordDecidesNothing() external {
        scores.publishScore(AGENT, 95, NOW - 1 days - 1);
        payment.pay{value: 1 ether}(AGENT);
        assertEq(payment.held(PAYER, AGENT), 1 ether);
    }

    function test_APoorScoreIsRefused() external {
        scores.publishScore(AGENT, 59, NOW);
        vm.expectRevert(
            abi.encodeWithSelector(TrustedPayment.Refused.selector, AGENT, IAgentHealthOracle.Route.Reject)
        );
        payment.pay{value: 1 ether}(AGENT);
    }

    function test_NothingIsReleasedToAWalletListedMeanwhile() external {
        scores.publishScore(AGENT, 70, NOW);
        payment.pay{value: 1 ether}(AGENT);
        scores.publishSanctioned(AGENT);
        vm.expectRevert(
            abi.encodeWithSelector(TrustedPayment.Refused.selector, AGENT, IAgentHealthOracle.Route.Reject)
        );
        payment.release(AGENT);
        payment.takeBack(AGENT);
        assertEq(PAYER.balance, 10 ether);
    }

    function test_WhatIsTakenBackComesBackOnce() external {
        vm.stopPrank();
        GreedyPayer greedy = new GreedyPayer(payment);
        vm.deal(address(payment), 5 ether);
        greedy.pay{value: 1 ether}(AGENT);
        greedy.takeBack(AGENT);
        assertEq(address(greedy).balance, 1 ether);
        assertEq(address(payment).balance, 5 ether);
    }
}
