// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {RecordCodec} from "../../contracts/RecordCodec.sol";
import {IAgentHealthOracle} from "../../contracts/interfaces/IAgentHealthOracle.sol";
import {OracleFixture} from "./OracleFixture.sol";

contract OracleFuzzTest is OracleFixture {
    function testFuzz_TheCheapCheckAgreesWithTheNamedFaults(uint256 word) external {
        _assertAgreement(word);
    }

    function testFuzz_TheCheapCheckAgreesOnSafeAmounts(uint16 safe, uint8 flags) external {
        _assertAgreement(uint256(_withSafe(_word(WALLET, 0, flags % 4), safe)));
        _assertAgreement(uint256(_withSafe(_word(WALLET, 80, 0), safe)));
    }

    /// @dev Random words are nearly all faulty; these have each field near its limit.
    function testFuzz_TheCheapCheckAgreesNearTheLimits(
        uint8 score,
        uint8 d1,
        uint8 d2,
        uint16 confidence,
        uint8 flags,
        uint8 reserved
    ) external {
        bytes32 word = _word(WALLET, score % 104, d1 % 104, d2 % 104, 9990 + confidence % 20, flags % 6);
        _assertAgreement(uint256(word));
        _assertAgreement(uint256(word) | reserved % 4);
        _assertAgreement(uint256(word) & ~(uint256(0xffffff) << 72));
        _assertAgreement(uint256(uint96(uint256(word))));
    }

    function testFuzz_AGoodWordIsReadBackWhole(
        address wallet,
        uint8 score,
        uint8 d1,
        uint8 d2,
        uint16 confidence,
        uint16 safe,
        bool sanctioned
    ) external {
        vm.assume(wallet != address(0));
        (score, d1, d2, confidence) = (score % 101, d1 % 101, d2 % 101, confidence % 10_001);
        safe = sanctioned ? 0 : safe | (safe >> 11 == 0 ? 0 : 1024);
        bytes32 word = _word(wallet, score, d1, d2, confidence, sanctioned ? SANCTIONED : 0);
        _publish(HEAD, NOW, _withSafe(word, safe));
        IAgentHealthOracle.Record memory record = oracle.scoreOf(wallet);
        assertEq(record.score, score);
        assertEq(record.d1, d1);
        assertEq(record.d2, d2);
        assertEq(record.confidence, confidence);
        assertEq(record.sanctioned, sanctioned);
        assertFalse(record.insufficient);
        assertEq(record.safeAmount, (uint256(safe) % 2048 << safe / 2048) * 10_000);
        _assertGrade(record.grade, _gradeBySpecification(score));
    }

    function testFuzz_AnAmountMovesARouteOnlyFromInstantToEscrow(uint8 score, uint16 safe, uint128 amount)
        external
    {
        safe |= safe >> 11 == 0 ? 0 : 1024;
        _publish(HEAD, NOW, _withSafe(_word(WALLET, score % 101, 0), safe));
        (IAgentHealthOracle.Route plain,) = oracle.routeOf(WALLET, DAY);
        (IAgentHealthOracle.Route route,) = oracle.routeOf(WALLET, DAY, amount);
        bool isHeld =
            plain == IAgentHealthOracle.Route.InstantSettle && amount > oracle.scoreOf(WALLET).safeAmount;
        _assertRoute(route, isHeld ? IAgentHealthOracle.Route.Escrow : plain);
    }

    function testFuzz_OnlyANewerAsOfReplaces(uint64 first, uint64 second) external {
        first = 1 + first % HEAD;
        second = 1 + second % HEAD;
        _publish(first, NOW, _word(WALLET, 10, 0));
        _publish(second, NOW, _word(WALLET, 20, 0));
        assertEq(oracle.scoreOf(WALLET).score, second > first ? 20 : 10);
        assertEq(oracle.asOfFloor(WALLET), second > first ? second : first);
    }

    function testFuzz_AForgedSignatureIsRefused(uint256 key, bytes memory noise) external {
        key = 1 + key % 1_000_000;
        vm.assume(key != SIGNER_KEY);
        bytes memory forged = _sign(key, _score(99));
        vm.expectRevert(IAgentHealthOracle.InvalidSignature.selector);
        oracle.publishSigned(_score(99), forged);
        vm.expectRevert(IAgentHealthOracle.InvalidSignature.selector);
        oracle.publishSigned(_score(99), noise);
    }

    function testFuzz_EveryStrangerIsRefused(address caller) external {
        vm.assume(caller != PUBLISHER);
        vm.expectRevert(abi.encodeWithSelector(IAgentHealthOracle.NotPublisher.selector, caller));
        vm.prank(caller);
        oracle.publish(HEAD, NOW, new bytes32[](0));
    }

    function testFuzz_StaleBeginsOneSecondPastMaxAge(uint32 age, uint32 maxAge) external {
        _publishNow(95, 0);
        vm.warp(NOW + age);
        (IAgentHealthOracle.Status status,) = oracle.tryScoreOf(WALLET, maxAge);
        (IAgentHealthOracle.Route route,) = oracle.routeOf(WALLET, maxAge);
        bool fresh = age <= maxAge;
        _assertStatus(status, fresh ? IAgentHealthOracle.Status.Scored : IAgentHealthOracle.Status.Stale);
        _assertRoute(route, fresh ? IAgentHealthOracle.Route.InstantSettle : IAgentHealthOracle.Route.Stale);
        assertEq(oracle.meetsThreshold(WALLET, 95, maxAge), fresh);
    }

    function _assertAgreement(uint256 word) private {
        bool good = RecordCodec.faultOf(word) == IAgentHealthOracle.RecordFault.None;
        assertEq(RecordCodec.isPlain(word), good && uint8(word >> 48) == 0);
    }
}
