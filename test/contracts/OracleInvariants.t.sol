// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IAgentHealthOracle} from "../../contracts/interfaces/IAgentHealthOracle.sol";
import {OracleFixture} from "./OracleFixture.sol";
import {OracleHandler} from "./OracleHandler.sol";

contract OracleInvariantsTest is OracleFixture {
    OracleHandler private handler;

    function setUp() public override {
        super.setUp();
        handler = new OracleHandler(oracle, OWNER, PUBLISHER, SIGNER_KEY);
    }

    /// @dev Read by forge: only the handler is called at random.
    function targetContracts() external view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(handler);
    }

    /// 1. A stored asOf never decreases and is never above block.number.
    function invariant_StoredAsOfNeverDecreasesNorExceedsTheBlockNumber() external {
        assertFalse(handler.floorFell(), "a floor fell");
        for (uint256 i; i < handler.walletCount(); ++i) {
            assertLte(oracle.asOfFloor(handler.wallet(i)), handler.head());
        }
    }

    /// 2. Only a publisher or a valid signature changes a record.
    function invariant_OnlyAPublisherOrAValidSignatureChangesARecord() external {
        for (uint256 i; i < handler.walletCount(); ++i) {
            address wallet = handler.wallet(i);
            OracleHandler.Expected memory expected = handler.expected(wallet);
            IAgentHealthOracle.Record memory record = oracle.scoreOf(wallet);
            assertEq(record.exists, expected.exists, "exists");
            assertEq(oracle.asOfFloor(wallet), expected.floor, "floor");
            if (!expected.exists) continue;
            assertEq(_wordOf(wallet, record), expected.word, "fields");
            assertEq(record.asOfTime, expected.asOfTime, "time");
        }
    }

    /// 3. score <= 100, and the grade always matches it.
    function invariant_ScoreIsAtMost100AndTheGradeMatchesIt() external {
        for (uint256 i; i < handler.walletCount(); ++i) {
            IAgentHealthOracle.Record memory record = oracle.scoreOf(handler.wallet(i));
            assertLte(record.score, 100);
            assertLte(record.d1, 100);
            assertLte(record.d2, 100);
            assertLte(record.confidence, 10_000);
            bool graded = record.exists && !record.insufficient;
            _assertGrade(
                record.grade, graded ? _gradeBySpecification(record.score) : IAgentHealthOracle.Grade.None
            );
            if (record.insufficient) assertEq(record.score, 0);
        }
    }

    /// 9. A sanctioned wallet has no safe amount, and no amount settles at once above the safe one.
    function invariant_NothingAboveTheSafeAmountSettlesAtOnce() external {
        for (uint256 i; i < handler.walletCount(); ++i) {
            address wallet = handler.wallet(i);
            IAgentHealthOracle.Record memory record = oracle.scoreOf(wallet);
            if (record.sanctioned) assertEq(record.safeAmount, 0);
            (IAgentHealthOracle.Route route,) =
                oracle.routeOf(wallet, type(uint256).max, record.safeAmount + 1);
            assertTrue(route != IAgentHealthOracle.Route.InstantSettle, "above the safe amount");
        }
    }

    /// 4. A paused oracle still answers reads.
    function invariant_APausedOracleStillAnswersReads() external {
        bool wasPaused = oracle.paused();
        for (uint256 i; i < handler.walletCount(); ++i) {
            _setPaused(false);
            bytes32 running = _readAll(handler.wallet(i));
            _setPaused(true);
            assertEq(_readAll(handler.wallet(i)), running);
        }
        _setPaused(wasPaused);
    }

    /// 5. No record exists for a wallet never published.
    function invariant_NoRecordExistsForAWalletNeverPublished() external {
        for (uint256 i; i < handler.walletCount(); ++i) {
            address wallet = handler.wallet(i);
            if (handler.expected(wallet).everPublished) continue;
            _assertNoRecord(wallet);
            assertEq(oracle.asOfFloor(wallet), 0);
        }
    }

    /// @dev The campaign is worth something only if it stores records.
    function test_TheHandlerStoresRecords() external {
        handler.publish(uint256(keccak256("seed")), 0, 3);
        handler.advance(1);
        handler.relay(uint256(keccak256("another")), 0);
        assertGt(handler.stored(), 1);
    }

    function _setPaused(bool paused) private {
        vm.prank(OWNER);
        oracle.setPaused(paused);
    }

    function _readAll(address wallet) private returns (bytes32) {
        registry.set(1, wallet);
        address[] memory wallets = new address[](1);
        wallets[0] = wallet;
        (address agent, IAgentHealthOracle.Record memory ofAgent) = oracle.scoreOfAgent(1);
        (IAgentHealthOracle.Status status, IAgentHealthOracle.Record memory tried) =
            oracle.tryScoreOf(wallet, DAY);
        (IAgentHealthOracle.Route route,) = oracle.routeOf(wallet, DAY);
        return keccak256(
            abi.encode(
                oracle.scoreOf(wallet),
                oracle.scoresOf(wallets),
                abi.encode(agent, ofAgent, status, tried, route, _routeOfADollar(wallet)),
                oracle.meetsThreshold(wallet, 50, DAY),
                oracle.asOfFloor(wallet),
                oracle.verify(wallet, bytes32(0), new bytes32[](0))
            )
        );
    }

    function _routeOfADollar(address wallet) private view returns (IAgentHealthOracle.Route route) {
        (route,) = oracle.routeOf(wallet, DAY, 1e6);
    }

    function _wordOf(address wallet, IAgentHealthOracle.Record memory record) private pure returns (bytes32) {
        uint256 flags = (record.sanctioned ? SANCTIONED : 0) | (record.insufficient ? INSUFFICIENT : 0);
        uint256 word = uint256(uint160(wallet)) << 96 | uint256(record.score) << 88 | uint256(record.d1) << 80;
        word |= uint256(record.d2) << 72 | uint256(record.confidence) << 56 | flags << 48;
        return bytes32(word | uint256(record.modelVersion) << 32 | _safeCode(record.safeAmount) << 16);
    }

    /// @dev The one code of an amount.
    function _safeCode(uint256 amount) private pure returns (uint256) {
        uint256 mantissa = amount / 10_000;
        uint256 exponent;
        for (; mantissa > 2047; ++exponent) {
            mantissa /= 2;
        }
        return exponent << 11 | mantissa;
    }
}
