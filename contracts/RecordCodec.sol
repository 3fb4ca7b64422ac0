// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IAgentHealthOracle} from "./interfaces/IAgentHealthOracle.sol";

/// @title Layout of the published word and of the stored record
/// @dev Published word, from the highest bit: wallet 160, score 8, d1 8, d2 8, confidence 16, flags 8,
/// modelVersion 16, zero 32. Stored record: the published word without its wallet (64 bits), grade 8, zero 40,
/// asOf 48, asOfTime 48, validUntil 48. 48 bits of seconds last nine million years. A record whose asOfTime is
/// zero is absent; its asOf still is the floor for the next one.
library RecordCodec {
    uint256 internal constant SANCTIONED = 1;
    uint256 internal constant INSUFFICIENT = 2;

    uint256 private constant MAX_SCORE = 100;
    uint256 private constant MAX_CONFIDENCE = 10_000;
    uint256 private constant U48 = type(uint48).max;
    uint256 private constant FLOOR_MASK = U48 << 96;

    // Masks over a published word, for its limited fields: score, d1, d2 (100 each), confidence (10000), flags (2).
    uint256 private constant LOW_BITS = 0x7f7f7f << 72 | 0x7fff << 56 | 0x7f << 48;
    uint256 private constant GAPS = 0x1b1b1b << 72 | 0x58ef << 56 | 0x7d << 48;
    uint256 private constant FAULTY_BITS = 0x808080 << 72 | 0x8000 << 56 | 0x80 << 48 | type(uint32).max;
    uint256 private constant INSUFFICIENT_BIT = INSUFFICIENT << 48;

    /// @dev Times the insufficient bit, this raises the gaps of the three scores by 100: their limit becomes zero.
    uint256 private constant LIMIT_TO_ZERO = 0x646464 << 23;

    /// @dev Byte k is the grade of the scores 5k to 5k + 4: every bound of the grade table is a multiple of 5.
    uint256 private constant GRADES = 0x0606060605050505040404040303030202020101010000000000000000000000;

    function walletOf(uint256 word) internal pure returns (address) {
        return address(uint160(word >> 96));
    }

    /// @dev True exactly when `faultOf` finds nothing, by one comparison. The gap of a field is what its limit lacks
    /// to all ones below its top bit: adding it carries into the top bit, and no further, exactly when the field is
    /// above its limit. Whatever bit is left over, all below bit 96, is then shifted above every wallet.
    function isWellFormed(uint256 word) internal pure returns (bool) {
        unchecked {
            uint256 gaps = GAPS + (word & INSUFFICIENT_BIT) * LIMIT_TO_ZERO;
            uint256 suspect = ((word & LOW_BITS) + gaps | word) & FAULTY_BITS;
            return word >> 96 > suspect << 160;
        }
    }

    /// @dev The first fault of a word, None for a good one.
    function faultOf(uint256 word) internal pure returns (IAgentHealthOracle.RecordFault) {
        uint256 flags = uint8(word >> 48);
        if (word >> 96 == 0) return IAgentHealthOracle.RecordFault.ZeroWallet;
        if (uint8(word >> 88) > MAX_SCORE || uint8(word >> 80) > MAX_SCORE || uint8(word >> 72) > MAX_SCORE) {
            return IAgentHealthOracle.RecordFault.ScoreAbove100;
        }
        if (uint16(word >> 56) > MAX_CONFIDENCE) return IAgentHealthOracle.RecordFault.ConfidenceAbove10000;
        if (flags > SANCTIONED + INSUFFICIENT) return IAgentHealthOracle.RecordFault.UnknownFlags;
        if (uint32(word) != 0) return IAgentHealthOracle.RecordFault.ReservedBitsSet;
        if (flags == SANCTIONED + INSUFFICIENT) {
            return IAgentHealthOracle.RecordFault.InsufficientWithSanction;
        }
        if (flags == INSUFFICIENT && uint24(word >> 72) != 0) {
            return IAgentHealthOracle.RecordFault.InsufficientWithScore;
        }
        return IAgentHealthOracle.RecordFault.None;
    }

    /// @dev The published word of a signed score; the ABI decoder has bounded every field.
    function pack(IAgentHealthOracle.Score calldata score) internal pure returns (uint256) {
        return uint256(uint160(score.wallet)) << 96 | uint256(score.score) << 88 | uint256(score.d1) << 80
            | uint256(score.d2) << 72 | uint256(score.confidence) << 56 | uint256(score.flags) << 48
            | uint256(score.modelVersion) << 32;
    }

    /// @dev What all records of one batch share. No argument may exceed 48 bits.
    function times(uint256 asOf, uint256 asOfTime, uint256 validUntil) internal pure returns (uint256) {
        return asOf << 96 | asOfTime << 48 | validUntil;
    }

    /// @dev The stored record of a well-formed word.
    function toRecord(uint256 word, uint256 sharedTimes) internal pure returns (uint256) {
        return word << 160 | gradeOf(word) << 184 | sharedTimes;
    }

    /// @dev Grade of a well-formed word's score; None when it is insufficient.
    function gradeOf(uint256 word) internal pure returns (uint256 grade) {
        uint256 insufficient = word & INSUFFICIENT_BIT;
        assembly ("memory-safe") {
            grade := mul(byte(div(byte(20, word), 5), GRADES), iszero(insufficient))
        }
    }

    function asOfOf(uint256 record) internal pure returns (uint256) {
        return (record >> 96) & U48;
    }

    function asOfTimeOf(uint256 record) internal pure returns (uint256) {
        return (record >> 48) & U48;
    }

    function floorOf(uint256 record) internal pure returns (uint256) {
        return record & FLOOR_MASK;
    }

    function flagsOf(uint256 record) internal pure returns (uint256) {
        return uint8(record >> 208);
    }

    function scoreOf(uint256 record) internal pure returns (uint256) {
        return record >> 248;
    }

    function gradeIn(uint256 record) internal pure returns (uint256) {
        return uint8(record >> 184);
    }

    /// @dev Never negative: a clock behind the record's own reads as age zero.
    function ageOf(uint256 record, uint256 time) internal pure returns (uint256 age) {
        uint256 asOfTime = asOfTimeOf(record);
        assembly ("memory-safe") {
            age := mul(gt(time, asOfTime), sub(time, asOfTime))
        }
    }

    /// @dev Size of the struct Record, in memory and as ABI-encoded: it has static members only.
    uint256 internal constant VIEW_SIZE = 0x1a0;

    function decode(uint256 record, uint256 time)
        internal
        pure
        returns (IAgentHealthOracle.Record memory out)
    {
        uint256 place;
        assembly ("memory-safe") {
            place := out
        }
        write(place, record, time);
    }

    /// @dev Writes the struct Record to memory, members in order; all zero when the record is absent.
    function write(uint256 place, uint256 record, uint256 time) internal pure {
        uint256 asOfTime = asOfTimeOf(record);
        uint256 age = ageOf(record, time);
        uint256 mask = U48;
        assembly ("memory-safe") {
            switch asOfTime
            case 0 { calldatacopy(place, calldatasize(), VIEW_SIZE) }
            default {
                let flags := byte(5, record)
                mstore(place, 1)
                mstore(add(place, 0x20), byte(0, record))
                mstore(add(place, 0x40), byte(1, record))
                mstore(add(place, 0x60), byte(2, record))
                mstore(add(place, 0x80), byte(8, record))
                mstore(add(place, 0xa0), and(shr(216, record), 0xffff))
                mstore(add(place, 0xc0), eq(flags, SANCTIONED))
                mstore(add(place, 0xe0), eq(flags, INSUFFICIENT))
                mstore(add(place, 0x100), and(shr(192, record), 0xffff))
                mstore(add(place, 0x120), and(shr(96, record), mask))
                mstore(add(place, 0x140), asOfTime)
                mstore(add(place, 0x160), and(record, mask))
                mstore(add(place, 0x180), age)
            }
        }
    }
}
