// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IAgentHealthOracle} from "../../contracts/interfaces/IAgentHealthOracle.sol";
import {OracleFixture} from "./OracleFixture.sol";

/// publish
/// ├── caller is not the publisher → NotPublisher
/// ├── writes are paused → WritesPaused
/// ├── as-of is 0 or in the future → InvalidAsOf
/// ├── as-of time is 0 or in the future → InvalidAsOfTime
/// ├── a word is malformed → MalformedRecord, naming index, word and fault; nothing is stored
/// └── otherwise
///     ├── a word is newer than the stored record → stored
///     ├── a word is as old or older → skipped
///     └── one event carries all words
contract OraclePublishTest is OracleFixture {
    event Published(uint64 indexed asOf, uint64 asOfTime, bytes32[] packed);

    function test_RevertWhen_CallerIsNotPublisher() external {
        vm.expectRevert(abi.encodeWithSelector(IAgentHealthOracle.NotPublisher.selector, STRANGER));
        vm.prank(STRANGER);
        oracle.publish(HEAD, NOW, new bytes32[](0));
    }

    function test_RevertWhen_Paused() external {
        vm.prank(OWNER);
        oracle.setPaused(true);
        vm.expectRevert(IAgentHealthOracle.WritesPaused.selector);
        vm.prank(PUBLISHER);
        oracle.publish(HEAD, NOW, new bytes32[](0));
    }

    function test_RevertWhen_AsOfIsZeroOrInTheFuture() external {
        _expectInvalidAsOf(0);
        _expectInvalidAsOf(HEAD + 1);
        _expectInvalidAsOf(type(uint64).max);
    }

    function test_RevertWhen_AsOfTimeIsZeroOrInTheFuture() external {
        _expectInvalidAsOfTime(0);
        _expectInvalidAsOfTime(NOW + 1);
        _expectInvalidAsOfTime(type(uint64).max);
    }

    function test_RevertWhen_AWordIsMalformed() external {
        IAgentHealthOracle.RecordFault tooHigh = IAgentHealthOracle.RecordFault.ScoreAbove100;
        _expectMalformed(_word(address(0), 80, 0), IAgentHealthOracle.RecordFault.ZeroWallet);
        _expectMalformed(_word(WALLET, 101, 80, 80, 9000, 0), tooHigh);
        _expectMalformed(_word(WALLET, 128, 80, 80, 9000, 0), tooHigh);
        _expectMalformed(_word(WALLET, 80, 101, 80, 9000, 0), tooHigh);
        _expectMalformed(_word(WALLET, 80, 80, 255, 9000, 0), tooHigh);
        _expectMalformed(
            _word(WALLET, 80, 80, 80, 10_001, 0), IAgentHealthOracle.RecordFault.ConfidenceAbove10000
        );
        _expectMalformed(
            _word(WALLET, 80, 80, 80, 65_535, 0), IAgentHealthOracle.RecordFault.ConfidenceAbove10000
        );
        _expectMalformed(_word(WALLET, 80, 4), IAgentHealthOracle.RecordFault.UnknownFlags);
        _expectMalformed(_word(WALLET, 80, 128), IAgentHealthOracle.RecordFault.UnknownFlags);
        _expectMalformed(
            _word(WALLET, 80, 0) | bytes32(uint256(1)), IAgentHealthOracle.RecordFault.ReservedBitsSet
        );
        _expectMalformed(
            _word(WALLET, 80, 0) | bytes32(uint256(1 << 15)), IAgentHealthOracle.RecordFault.ReservedBitsSet
        );
        IAgentHealthOracle.RecordFault otherCode = IAgentHealthOracle.RecordFault.SafeAmountNotCanonical;
        _expectMalformed(_withSafe(_word(WALLET, 80, 0), 1 << 11), otherCode);
        _expectMalformed(_withSafe(_word(WALLET, 80, 0), 31 << 11 | 1023), otherCode);
        _expectMalformed(_withSafe(_word(WALLET, 0, INSUFFICIENT), 1 << 11 | 1), otherCode);
        _expectMalformed(
            _withSafe(_word(WALLET, 0, SANCTIONED), 1),
            IAgentHealthOracle.RecordFault.SanctionedWithSafeAmount
        );
        _expectMalformed(
            _withSafe(_word(WALLET, 80, SANCTIONED), 31 << 11 | 2047),
            IAgentHealthOracle.RecordFault.SanctionedWithSafeAmount
        );
        _expectMalformed(
            _word(WALLET, 0, SANCTIONED | INSUFFICIENT),
            IAgentHealthOracle.RecordFault.InsufficientWithSanction
        );
        _expectMalformed(
            _word(WALLET, 0, 0, 1, 9000, INSUFFICIENT), IAgentHealthOracle.RecordFault.InsufficientWithScore
        );
    }

    function test_StoresEveryField() external {
        _publish(HEAD - 30, NOW - 60, _withSafe(_word(WALLET, 88, 91, 87, 9321, 0), 6 << 11 | 1929));
        IAgentHealthOracle.Record memory expected = IAgentHealthOracle.Record({
            exists: true,
            score: 88,
            d1: 91,
            d2: 87,
            grade: IAgentHealthOracle.Grade.B,
            confidence: 9321,
            sanctioned: false,
            insufficient: false,
            modelVersion: MODEL,
            asOf: HEAD - 30,
            asOfTime: NOW - 60,
            validUntil: NOW - 60 + 48 hours,
            age: 60,
            safeAmount: (1929 << 6) * 10_000
        });
        assertEq(keccak256(abi.encode(oracle.scoreOf(WALLET))), keccak256(abi.encode(expected)));
    }

    function test_AcceptsTheLimits() external {
        _publish(HEAD, NOW, _word(WALLET, 100, 100, 100, 10_000, 0));
        _assertGrade(oracle.scoreOf(WALLET).grade, IAgentHealthOracle.Grade.A);
        _publish(HEAD, NOW, _word(STRANGER, 0, 0, 0, 0, 0));
        _assertGrade(oracle.scoreOf(STRANGER).grade, IAgentHealthOracle.Grade.F);
        assertTrue(oracle.scoreOf(STRANGER).exists);
        _publish(HEAD - 1, NOW, _withSafe(_word(address(1), 80, 0), type(uint16).max));
        assertEq(oracle.scoreOf(address(1)).safeAmount, (2047 << 31) * 10_000);
        _publish(HEAD - 1, NOW, _withSafe(_word(address(2), 0, INSUFFICIENT), 1 << 11 | 1024));
        assertEq(oracle.scoreOf(address(2)).safeAmount, 2048 * 10_000);
        assertTrue(oracle.scoreOf(address(2)).insufficient);
    }

    function test_NewerReplacesOlder() external {
        _publish(HEAD - 1, NOW - 2, _word(WALLET, 50, 0));
        _publish(HEAD, NOW, _word(WALLET, 90, 0));
        assertEq(oracle.scoreOf(WALLET).score, 90);
    }

    function test_SkipsAWordAsOldOrOlder() external {
        _publish(HEAD - 1, NOW - 2, _word(WALLET, 50, 0));
        _publish(HEAD - 1, NOW, _word(WALLET, 90, 0));
        _publish(HEAD - 2, NOW, _word(WALLET, 91, 0));
        assertEq(oracle.scoreOf(WALLET).score, 50);
        assertEq(oracle.scoreOf(WALLET).asOfTime, NOW - 2);
    }

    function test_StoresTheFirstOfAWalletGivenTwice() external {
        bytes32[] memory words = new bytes32[](2);
        words[0] = _word(WALLET, 70, 0);
        words[1] = _word(WALLET, 71, 0);
        vm.prank(PUBLISHER);
        oracle.publish(HEAD, NOW, words);
        assertEq(oracle.scoreOf(WALLET).score, 70);
    }

    function test_OneEventCarriesAllWords() external {
        bytes32[] memory words = new bytes32[](3);
        for (uint160 i; i < 3; ++i) {
            words[i] = _word(address(i + 1), 10 * (i + 1), 0);
        }
        vm.expectEmit({
            checkTopic1: true, checkTopic2: true, checkTopic3: true, checkData: true, emitter: address(oracle)
        });
        emit Published(HEAD, NOW, words);
        vm.prank(PUBLISHER);
        oracle.publish(HEAD, NOW, words);
    }

    function _expectInvalidAsOf(uint64 asOf) private {
        vm.expectRevert(abi.encodeWithSelector(IAgentHealthOracle.InvalidAsOf.selector, asOf, HEAD));
        _publish(asOf, NOW, _word(WALLET, 80, 0));
    }

    function _expectInvalidAsOfTime(uint64 asOfTime) private {
        vm.expectRevert(abi.encodeWithSelector(IAgentHealthOracle.InvalidAsOfTime.selector, asOfTime, NOW));
        _publish(HEAD, asOfTime, _word(WALLET, 80, 0));
    }

    /// @dev The good word before the bad one must not be stored either.
    function _expectMalformed(bytes32 bad, IAgentHealthOracle.RecordFault fault) private {
        bytes32[] memory words = new bytes32[](2);
        words[0] = _word(STRANGER, 80, 0);
        words[1] = bad;
        vm.expectRevert(abi.encodeWithSelector(IAgentHealthOracle.MalformedRecord.selector, 1, bad, fault));
        vm.prank(PUBLISHER);
        oracle.publish(HEAD, NOW, words);
        _assertNoRecord(STRANGER);
    }
}
