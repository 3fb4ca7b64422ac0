// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IAgentHealthOracle} from "../../contracts/interfaces/IAgentHealthOracle.sol";
import {OracleFixture} from "./OracleFixture.sol";

/// reads of one wallet
/// ├── never published → NoRecord, all zero, Escrow
/// ├── invalidated → the same, but for the as-of floor
/// ├── older than maxAge → Stale with the record
/// │   ├── sanctioned → Reject
/// │   └── otherwise → Stale
/// ├── insufficient → Insufficient, Escrow
/// └── scored → Scored
///     ├── sanctioned → Reject, below every threshold
///     ├── A, B → InstantSettle, but for an amount above the safe one: Escrow
///     └── C → Escrow; D, E, F → Reject, whatever the amount
contract OracleReadTest is OracleFixture {
    uint256 private constant MAX_AGE = 1 days;

    function test_NoRecordIsAnAnswer() external {
        (IAgentHealthOracle.Status status,) = oracle.tryScoreOf(WALLET, MAX_AGE);
        _assertStatus(status, IAgentHealthOracle.Status.NoRecord);
        _expectRoute(IAgentHealthOracle.Route.Escrow, IAgentHealthOracle.Status.NoRecord);
        assertFalse(oracle.meetsThreshold(WALLET, 0, type(uint256).max));
        assertEq(oracle.asOfFloor(WALLET), 0);
        _assertNoRecord(WALLET);
    }

    function test_InsufficientIsAnAnswer() external {
        _publishNow(0, INSUFFICIENT);
        (IAgentHealthOracle.Status status, IAgentHealthOracle.Record memory record) =
            oracle.tryScoreOf(WALLET, MAX_AGE);
        _assertStatus(status, IAgentHealthOracle.Status.Insufficient);
        assertTrue(record.exists);
        assertTrue(record.insufficient);
        _assertGrade(record.grade, IAgentHealthOracle.Grade.None);
        _expectRoute(IAgentHealthOracle.Route.Escrow, IAgentHealthOracle.Status.Insufficient);
        assertFalse(oracle.meetsThreshold(WALLET, 0, MAX_AGE));
    }

    function test_ZeroIsAScore() external {
        _publishNow(0, 0);
        (IAgentHealthOracle.Status status, IAgentHealthOracle.Record memory record) =
            oracle.tryScoreOf(WALLET, MAX_AGE);
        _assertStatus(status, IAgentHealthOracle.Status.Scored);
        assertTrue(record.exists);
        assertFalse(record.insufficient);
        _assertGrade(record.grade, IAgentHealthOracle.Grade.F);
        assertTrue(oracle.meetsThreshold(WALLET, 0, MAX_AGE));
    }

    function test_StaleIsAnAnswerPastMaxAge() external {
        _publishNow(95, 0);
        vm.warp(NOW + MAX_AGE);
        _expectRoute(IAgentHealthOracle.Route.InstantSettle, IAgentHealthOracle.Status.Scored);
        assertTrue(oracle.meetsThreshold(WALLET, 95, MAX_AGE));

        vm.warp(NOW + MAX_AGE + 1);
        (IAgentHealthOracle.Status status, IAgentHealthOracle.Record memory record) =
            oracle.tryScoreOf(WALLET, MAX_AGE);
        _assertStatus(status, IAgentHealthOracle.Status.Stale);
        assertEq(record.score, 95);
        assertEq(record.age, MAX_AGE + 1);
        _expectRoute(IAgentHealthOracle.Route.Stale, IAgentHealthOracle.Status.Stale);
        assertFalse(oracle.meetsThreshold(WALLET, 0, MAX_AGE));
        assertTrue(oracle.meetsThreshold(WALLET, 95, type(uint256).max));
    }

    function test_AStaleInsufficientRecordIsStale() external {
        _publishNow(0, INSUFFICIENT);
        vm.warp(NOW + MAX_AGE + 1);
        _expectRoute(IAgentHealthOracle.Route.Stale, IAgentHealthOracle.Status.Stale);
    }

    function test_ASanctionedWalletIsRejectedAtAnyAge() external {
        _publish(HEAD, NOW, _word(WALLET, 95, SANCTIONED));
        assertTrue(oracle.scoreOf(WALLET).sanctioned);
        assertFalse(oracle.meetsThreshold(WALLET, 0, MAX_AGE));
        _expectRoute(IAgentHealthOracle.Route.Reject, IAgentHealthOracle.Status.Scored);
        vm.warp(NOW + MAX_AGE + 1);
        _expectRoute(IAgentHealthOracle.Route.Reject, IAgentHealthOracle.Status.Stale);
    }

    function test_RoutesByTheBoundsOfTheGradeTable() external {
        _expectRouteOfScore(100, IAgentHealthOracle.Route.InstantSettle);
        _expectRouteOfScore(90, IAgentHealthOracle.Route.InstantSettle);
        _expectRouteOfScore(89, IAgentHealthOracle.Route.InstantSettle);
        _expectRouteOfScore(75, IAgentHealthOracle.Route.InstantSettle);
        _expectRouteOfScore(74, IAgentHealthOracle.Route.Escrow);
        _expectRouteOfScore(60, IAgentHealthOracle.Route.Escrow);
        _expectRouteOfScore(59, IAgentHealthOracle.Route.Reject);
        _expectRouteOfScore(40, IAgentHealthOracle.Route.Reject);
        _expectRouteOfScore(20, IAgentHealthOracle.Route.Reject);
        _expectRouteOfScore(0, IAgentHealthOracle.Route.Reject);
    }

    function test_AboveTheSafeAmountAnInstantSettlementEscrows() external {
        _publish(HEAD, NOW, _withSafe(_word(WALLET, 80, 0), 1 << 11 | 1024));
        uint256 safe = oracle.scoreOf(WALLET).safeAmount;
        assertEq(safe, 20_480_000);
        _expectRouteOf(safe, IAgentHealthOracle.Route.InstantSettle, IAgentHealthOracle.Status.Scored);
        _expectRouteOf(safe + 1, IAgentHealthOracle.Route.Escrow, IAgentHealthOracle.Status.Scored);
        _expectRouteOf(type(uint256).max, IAgentHealthOracle.Route.Escrow, IAgentHealthOracle.Status.Scored);
        vm.warp(NOW + MAX_AGE + 1);
        _expectRouteOf(1, IAgentHealthOracle.Route.Stale, IAgentHealthOracle.Status.Stale);
    }

    function test_WithoutASafeAmountNothingButZeroSettlesAtOnce() external {
        _publishNow(95, 0);
        _expectRouteOf(0, IAgentHealthOracle.Route.InstantSettle, IAgentHealthOracle.Status.Scored);
        _expectRouteOf(1, IAgentHealthOracle.Route.Escrow, IAgentHealthOracle.Status.Scored);
    }

    function test_ThresholdIsInclusive() external {
        _publishNow(75, 0);
        assertTrue(oracle.meetsThreshold(WALLET, 75, MAX_AGE));
        assertFalse(oracle.meetsThreshold(WALLET, 76, MAX_AGE));
    }

    function test_ReadsManyInOrder() external {
        _publishNow(75, 0);
        address[] memory wallets = new address[](3);
        (wallets[0], wallets[1], wallets[2]) = (STRANGER, WALLET, STRANGER);
        IAgentHealthOracle.Record[] memory records = oracle.scoresOf(wallets);
        assertEq(records.length, 3);
        assertFalse(records[0].exists);
        assertEq(records[1].score, 75);
        assertFalse(records[2].exists);
    }

    function test_ResolvesAnAgentToItsWallet() external {
        _publishNow(75, 0);
        registry.set(0, WALLET);
        (address wallet, IAgentHealthOracle.Record memory record) = oracle.scoreOfAgent(0);
        assertEq(wallet, WALLET);
        assertEq(record.score, 75);
        (wallet, record) = oracle.scoreOfAgent(1);
        assertEq(wallet, address(0));
        assertFalse(record.exists);
    }

    function test_AgeIsZeroWhen_TheClockIsBehind() external {
        _publishNow(75, 0);
        vm.warp(NOW - 10);
        assertEq(oracle.scoreOf(WALLET).age, 0);
        _expectRoute(IAgentHealthOracle.Route.InstantSettle, IAgentHealthOracle.Status.Scored);
    }

    function _expectRouteOfScore(uint256 score, IAgentHealthOracle.Route expected) private {
        setUp();
        _publishNow(score, 0);
        _expectRoute(expected, IAgentHealthOracle.Status.Scored);
    }

    function _expectRouteOf(uint256 amount, IAgentHealthOracle.Route route, IAgentHealthOracle.Status status)
        private
    {
        (IAgentHealthOracle.Route actual, IAgentHealthOracle.Status actualStatus) =
            oracle.routeOf(WALLET, MAX_AGE, amount);
        _assertRoute(actual, route);
        _assertStatus(actualStatus, status);
    }

    function _expectRoute(IAgentHealthOracle.Route route, IAgentHealthOracle.Status status) private {
        (IAgentHealthOracle.Route actual, IAgentHealthOracle.Status actualStatus) =
            oracle.routeOf(WALLET, MAX_AGE);
        _assertRoute(actual, route);
        _assertStatus(actualStatus, status);
    }
}
