// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IAgentHealthOracle} from "../../contracts/interfaces/IAgentHealthOracle.sol";
import {OracleFixture} from "./OracleFixture.sol";

/// @dev Accepts whatever its key signed.
contract SmartSigner {
    address private immutable key;

    constructor(address key_) {
        key = key_;
    }

    function isValidSignature(bytes32 digest, bytes calldata signature) external view returns (bytes4) {
        (bytes32 r, bytes32 s, uint8 v) = abi.decode(signature, (bytes32, bytes32, uint8));
        return ecrecover(digest, v, r, s) == key ? this.isValidSignature.selector : bytes4(0);
    }
}

/// publishSigned
/// ├── writes are paused → WritesPaused
/// ├── as-of or as-of time is 0 or in the future → InvalidAsOf, InvalidAsOfTime
/// ├── now is after validUntil → ScoreExpired
/// ├── validUntil is more than 48 h after the as-of time → ValidityTooLong
/// ├── a field is malformed → MalformedRecord
/// ├── no current signer signed it → InvalidSignature
/// └── otherwise, for any sender
///     ├── the stored record is as new or newer → false, nothing changes
///     └── the score is stored
contract OracleRelayTest is OracleFixture {
    uint256 private constant NEXT_KEY = 0x52;

    event ScoreRelayed(
        address indexed wallet,
        address indexed signer,
        uint64 asOf,
        uint64 asOfTime,
        uint64 validUntil,
        bytes32 packed
    );

    function test_RevertWhen_Paused() external {
        vm.prank(OWNER);
        oracle.setPaused(true);
        _expectRefusal(_score(80), abi.encodeWithSelector(IAgentHealthOracle.WritesPaused.selector));
    }

    function test_RevertWhen_AsOfIsOutOfRange() external {
        IAgentHealthOracle.Score memory score = _score(80);
        score.asOf = HEAD + 1;
        _expectRefusal(score, abi.encodeWithSelector(IAgentHealthOracle.InvalidAsOf.selector, HEAD + 1, HEAD));
        score.asOf = 0;
        _expectRefusal(score, abi.encodeWithSelector(IAgentHealthOracle.InvalidAsOf.selector, 0, HEAD));
    }

    function test_RevertWhen_AsOfTimeIsInTheFuture() external {
        IAgentHealthOracle.Score memory score = _score(80);
        score.asOfTime = NOW + 1;
        _expectRefusal(
            score, abi.encodeWithSelector(IAgentHealthOracle.InvalidAsOfTime.selector, NOW + 1, NOW)
        );
    }

    function test_RevertWhen_Expired() external {
        IAgentHealthOracle.Score memory score = _score(80);
        bytes memory signature = _sign(SIGNER_KEY, score);
        vm.warp(score.validUntil + 1);
        vm.expectRevert(
            abi.encodeWithSelector(
                IAgentHealthOracle.ScoreExpired.selector, score.validUntil, score.validUntil + 1
            )
        );
        oracle.publishSigned(score, signature);
    }

    function test_AcceptsTheLastSecond() external {
        IAgentHealthOracle.Score memory score = _score(80);
        bytes memory signature = _sign(SIGNER_KEY, score);
        vm.warp(score.validUntil);
        assertTrue(oracle.publishSigned(score, signature));
        assertEq(oracle.scoreOf(WALLET).age, 48 hours);
    }

    function test_RevertWhen_ValidityIsTooLong() external {
        IAgentHealthOracle.Score memory score = _score(80);
        score.validUntil = NOW + 48 hours + 1;
        _expectRefusal(
            score,
            abi.encodeWithSelector(
                IAgentHealthOracle.ValidityTooLong.selector, NOW + 48 hours + 1, NOW + 48 hours
            )
        );
    }

    function test_RevertWhen_AFieldIsMalformed() external {
        IAgentHealthOracle.Score memory score = _score(80);
        score.d2 = 101;
        _expectMalformed(score, IAgentHealthOracle.RecordFault.ScoreAbove100);
        score = _score(80);
        score.confidence = 10_001;
        _expectMalformed(score, IAgentHealthOracle.RecordFault.ConfidenceAbove10000);
        score = _score(80);
        score.flags = 8;
        _expectMalformed(score, IAgentHealthOracle.RecordFault.UnknownFlags);
        score = _score(80);
        score.flags = INSUFFICIENT;
        _expectMalformed(score, IAgentHealthOracle.RecordFault.InsufficientWithScore);
        score = _score(80);
        score.safe = 1 << 11 | 1023;
        _expectMalformed(score, IAgentHealthOracle.RecordFault.SafeAmountNotCanonical);
        score = _score(80);
        score.flags = SANCTIONED;
        _expectMalformed(score, IAgentHealthOracle.RecordFault.SanctionedWithSafeAmount);
        score = _score(80);
        score.wallet = address(0);
        _expectMalformed(score, IAgentHealthOracle.RecordFault.ZeroWallet);
    }

    function test_RevertWhen_AFieldIsBeyondItsType() external {
        bytes memory sound = abi.encodeCall(oracle.publishSigned, (_score(80), _sign(SIGNER_KEY, _score(80))));
        for (uint256 i; i < 11; ++i) {
            bytes memory input = bytes.concat(sound);
            assembly ("memory-safe") {
                let place := add(input, add(0x24, shl(5, i)))
                mstore(place, or(mload(place), shl(255, 1)))
            }
            (bool ok, bytes memory answer) = address(oracle).call(input);
            assertFalse(ok, "a field beyond its type");
            assertEq(answer.length, 0);
        }
        (bool isSound,) = address(oracle).call(sound);
        assertTrue(isSound);
        assertEq(oracle.scoreOf(WALLET).safeAmount, 2000 * 10_000);
    }

    function test_RevertWhen_AStrangerSigned() external {
        bytes memory signature = _sign(NEXT_KEY, _score(80));
        vm.expectRevert(IAgentHealthOracle.InvalidSignature.selector);
        oracle.publishSigned(_score(80), signature);
    }

    function test_RevertWhen_AnythingSignedWasChanged() external {
        bytes memory signature = _sign(SIGNER_KEY, _score(80));
        IAgentHealthOracle.Score[11] memory changed;
        for (uint256 i; i < 11; ++i) {
            changed[i] = _score(80);
        }
        changed[0].wallet = STRANGER;
        changed[1].score = 81;
        changed[2].d1 = 81;
        changed[3].d2 = 81;
        changed[4].confidence = 9001;
        (changed[5].flags, changed[5].safe) = (SANCTIONED, 0);
        changed[6].modelVersion = MODEL + 1;
        changed[7].asOf = HEAD - 1;
        changed[8].asOfTime = NOW - 1;
        changed[8].validUntil = NOW;
        changed[9].validUntil = NOW + 1;
        changed[10].safe = 2001;
        for (uint256 i; i < 11; ++i) {
            vm.expectRevert(IAgentHealthOracle.InvalidSignature.selector);
            oracle.publishSigned(changed[i], signature);
        }
    }

    function test_RevertWhen_SignatureIsEmptyOrZero() external {
        vm.expectRevert(IAgentHealthOracle.InvalidSignature.selector);
        oracle.publishSigned(_score(80), "");
        vm.expectRevert(IAgentHealthOracle.InvalidSignature.selector);
        oracle.publishSigned(_score(80), new bytes(65));
    }

    function test_RevertWhen_SignedForAnotherChain() external {
        vm.chainId(8453);
        bytes memory signature = _sign(SIGNER_KEY, _score(80));
        vm.chainId(31_337);
        vm.expectRevert(IAgentHealthOracle.InvalidSignature.selector);
        oracle.publishSigned(_score(80), signature);
    }

    function test_AnyoneRelaysASignedScore() external {
        IAgentHealthOracle.Score memory score = _score(80);
        bytes memory signature = _sign(SIGNER_KEY, score);
        vm.expectEmit({
            checkTopic1: true, checkTopic2: true, checkTopic3: true, checkData: true, emitter: address(oracle)
        });
        emit ScoreRelayed(WALLET, signer, HEAD, NOW, score.validUntil, _withSafe(_word(WALLET, 80, 0), 2000));
        vm.prank(STRANGER);
        assertTrue(oracle.publishSigned(score, signature));

        IAgentHealthOracle.Record memory record = oracle.scoreOf(WALLET);
        assertEq(record.score, 80);
        assertEq(record.validUntil, score.validUntil);
        _assertGrade(record.grade, IAgentHealthOracle.Grade.B);
    }

    function test_AcceptsACompactSignature() external {
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(SIGNER_KEY, oracle.scoreDigest(_score(80)));
        bytes32 vs = bytes32(uint256(v - 27) << 255 | uint256(s));
        assertTrue(oracle.publishSigned(_score(80), abi.encodePacked(r, vs)));
    }

    function test_ChangesNothingWhen_TheStoredRecordIsAsNewOrNewer() external {
        _publishNow(55, 0);
        IAgentHealthOracle.Score memory score = _score(99);
        assertFalse(oracle.publishSigned(score, _sign(SIGNER_KEY, score)));
        score.asOf = HEAD - 1;
        assertFalse(oracle.publishSigned(score, _sign(SIGNER_KEY, score)));
        assertEq(oracle.scoreOf(WALLET).score, 55);
    }

    function test_RotationOverlaps() external {
        IAgentHealthOracle.Score memory old = _score(80);
        old.asOf = HEAD - 1;
        vm.startPrank(OWNER);
        oracle.setSigner(vm.addr(NEXT_KEY), type(uint64).max);
        oracle.setSigner(signer, NOW + DAY);
        vm.stopPrank();

        vm.warp(NOW + DAY);
        assertTrue(oracle.publishSigned(old, _sign(SIGNER_KEY, old)));
        IAgentHealthOracle.Score memory next = _score(81);
        assertTrue(oracle.publishSigned(next, _sign(NEXT_KEY, next)));

        vm.roll(HEAD + 1);
        vm.warp(NOW + DAY + 1);
        next.asOf = HEAD + 1;
        bytes memory retired = _sign(SIGNER_KEY, next);
        vm.expectRevert(IAgentHealthOracle.InvalidSignature.selector);
        oracle.publishSigned(next, retired);
        assertTrue(oracle.publishSigned(next, _sign(NEXT_KEY, next)));
    }

    function test_RevertWhen_TheSignerWasRemoved() external {
        bytes memory signature = _sign(SIGNER_KEY, _score(80));
        vm.prank(OWNER);
        oracle.setSigner(signer, 0);
        vm.expectRevert(IAgentHealthOracle.InvalidSignature.selector);
        oracle.publishSigned(_score(80), signature);
    }

    function test_AContractSigns() external {
        address smart = address(new SmartSigner(vm.addr(NEXT_KEY)));
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(NEXT_KEY, oracle.scoreDigest(_score(80)));
        bytes memory signature = abi.encode(r, s, v);
        vm.expectRevert(IAgentHealthOracle.InvalidSignature.selector);
        oracle.publishSigned(_score(80), signature);

        vm.prank(OWNER);
        oracle.setSigner(smart, NOW);
        vm.expectEmit({
            checkTopic1: true, checkTopic2: true, checkTopic3: true, checkData: true, emitter: address(oracle)
        });
        emit ScoreRelayed(WALLET, smart, HEAD, NOW, NOW + 2 * DAY, _withSafe(_word(WALLET, 80, 0), 2000));
        assertTrue(oracle.publishSigned(_score(80), signature));
    }

    function test_RevertWhen_TheContractSignerHasEnded() external {
        address smart = address(new SmartSigner(vm.addr(NEXT_KEY)));
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(NEXT_KEY, oracle.scoreDigest(_score(80)));
        vm.prank(OWNER);
        oracle.setSigner(smart, NOW - 1);
        vm.expectRevert(IAgentHealthOracle.InvalidSignature.selector);
        oracle.publishSigned(_score(80), abi.encode(r, s, v));
    }

    function _expectMalformed(IAgentHealthOracle.Score memory score, IAgentHealthOracle.RecordFault fault)
        private
    {
        bytes32 packed = _word(score.wallet, score.score, score.d1, score.d2, score.confidence, score.flags);
        packed = _withSafe(packed, score.safe);
        _expectRefusal(
            score, abi.encodeWithSelector(IAgentHealthOracle.MalformedRecord.selector, 0, packed, fault)
        );
    }

    function _expectRefusal(IAgentHealthOracle.Score memory score, bytes memory revertData) private {
        bytes memory signature = _sign(SIGNER_KEY, score);
        vm.expectRevert(revertData);
        oracle.publishSigned(score, signature);
        _assertNoRecord(score.wallet);
    }
}
