// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IAgentHealthOracle} from "./interfaces/IAgentHealthOracle.sol";

/// @title Layout of the published word and of the stored record
/// @dev Published word, from the highest bit: wallet 160, score 8, d1 8, d2 8, confidence 16, flags 8,
/// modelVersion 16, safe amount 16, zero 16. Stored record: the fields from score to the safe amount (80 bits),
/// grade 8, zero 24, asOf 48, asOfTime 48, validUntil 48. 48 bits of seconds last nine million years. A record whose
/// asOfTime is zero is absent; its asOf still is the floor for the next one.
///
/// Safe amount: exponent e in the high 5 bits, mantissa m in the low 11; m << e US cents. Each amount has one
/// encoding: where e is above zero, m is at least 1024.
library RecordCodec {
    uint256 internal constant SANCTIONED = 1;
    uint256 internal constant INSUFFICIENT = 2;

    uint256 private constant MAX_SCORE = 100;
    uint256 private constant MAX_CONFIDENCE = 10_000;
    uint256 private constant U48 = type(uint48).max;
    uint256 private constant FLOOR_MASK = U48 << 96;

    // Masks over a published word, for its limited fields: score, d1, d2 (100 each) and confidence (10000).
    uint256 private constant LOW_BITS = 0x7f7f7f << 72 | 0x7fff << 56;
    uint256 private constant GAPS = 0x1b1b1b << 72 | 0x58ef << 56;
    uint256 private constant UNUSUAL_BITS =
        0x808080 << 72 | 0x8000 << 56 | 0xff << 48 | EXPONENT_BITS | type(uint16).max;

    uint256 private constant SAFE_BITS = 0xffff << 16;
    uint256 private constant EXPONENT_BITS = 0x1f << 27;
    uint256 private constant MANTISSA_TOP_BIT = 1 << 26;

    /// @dev Times the mantissa's top bit, this is the exponent's bits: such a mantissa takes any exponent.
    uint256 private constant TO_EXPONENT_BITS = 0x3e;

    /// @dev Millionths of a US dollar in a cent.
    uint256 private constant CENT = 10_000;

    /// @dev Byte k is the grade of the scores 5k to 5k + 4: every bound of the grade table is a multiple of 5.
    uint256 private constant GRADES = 0x0606060605050505040404040303030202020101010000000000000000000000;

    function walletOf(uint256 word) internal pure returns (address) {
        return address(uint160(word >> 96));
    }

    /// @dev True exactly when the word has no flag and `faultOf` finds nothing: one comparison for nearly all words. The
    /// gap of a field is what its limit lacks to all ones below its top bit: adding it carries into the top bit, and no
    /// further, exactly when the field is above its limit. Whatever bit is left over, all below bit 96, is then shifted
    /// above every wallet.
    function isPlain(uint256 word) internal pure returns (bool) {
        unchecked {
            uint256 unusual = UNUSUAL_BITS ^ (word & MANTISSA_TOP_BIT) * TO_EXPONENT_BITS;
            uint256 suspect = ((word & LOW_BITS) + GAPS | word) & unusual;
            return word >> 96 > suspect << 160;
        }
    }

    function isInsufficient(uint256 word) internal pure returns (bool) {
        return word & INSUFFICIENT << 48 != 0;
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
        if (uint16(word) != 0) return IAgentHealthOracle.RecordFault.ReservedBitsSet;
        if (flags == SANCTIONED + INSUFFICIENT) {
            return IAgentHealthOracle.RecordFault.InsufficientWithSanction;
        }
        if (flags == INSUFFICIENT && uint24(word >> 72) != 0) {
            return IAgentHealthOracle.RecordFault.InsufficientWithScore;
        }
        if (word & EXPONENT_BITS != 0 && word & MANTISSA_TOP_BIT == 0) {
            return IAgentHealthOracle.RecordFault.SafeAmountNotCanonical;
        }
        if (flags == SANCTIONED && word & SAFE_BITS != 0) {
            return IAgentHealthOracle.RecordFault.SanctionedWithSafeAmount;
        }
        return IAgentHealthOracle.RecordFault.None;
    }

    /// @dev The published word of a signed score. A field beyond its type reverts, as it does when Solidity reads it.
    function pack(IAgentHealthOracle.Score calldata score) internal pure returns (uint256 word) {
        assembly ("memory-safe") {
            let value := calldataload(score)
            let dirty := shr(160, value)
            word := shl(96, value)
            value := calldataload(add(score, 0x20))
            dirty := or(dirty, shr(8, value))
            word := or(word, shl(88, value))
            value := calldataload(add(score, 0x40))
            dirty := or(dirty, shr(8, value))
            word := or(word, shl(80, value))
            value := calldataload(add(score, 0x60))
            dirty := or(dirty, shr(8, value))
            word := or(word, shl(72, value))
            value := calldataload(add(score, 0x80))
            dirty := or(dirty, shr(16, value))
            word := or(word, shl(56, value))
            value := calldataload(add(score, 0xa0))
            dirty := or(dirty, shr(8, value))
            word := or(word, shl(48, value))
            value := calldataload(add(score, 0xc0))
            dirty := or(dirty, shr(16, value))
            word := or(word, shl(32, value))
            value := calldataload(add(score, 0x140))
            dirty := or(dirty, shr(16, value))
            word := or(word, shl(16, value))
            if dirty { revert(0, 0) }
        }
    }

    /// @dev What all records of one batch share. No argument may exceed 48 bits.
    function times(uint256 asOf, uint256 asOfTime, uint256 validUntil) internal pure returns (uint256) {
        return asOf << 96 | asOfTime << 48 | validUntil;
    }

    /// @dev The stored record of a well-formed word.
    function toRecord(uint256 word, uint256 grade, uint256 sharedTimes) internal pure returns (uint256) {
        return word << 160 | grade << 168 | sharedTimes;
    }

    /// @dev Grade of a well-formed word with a score.
    function gradeOf(uint256 word) internal pure returns (uint256 grade) {
        assembly ("memory-safe") {
            grade := byte(div(byte(20, word), 5), GRADES)
        }
    }

    function asOfOf(uint256 record) internal pure returns (uint256) {
        return (record >> 96) & U48;
    }

    function asOfTimeOf(uint256 record) internal pure returns (uint256) {
        return (record >> 48) & U48;
    }

    function isNewer(uint256 asOf, uint256 record) internal pure returns (bool) {
        return asOf << 96 > record & FLOOR_MASK;
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
        return uint8(record >> 168);
    }

    /// @dev In millionths of a US dollar.
    function safeAmountOf(uint256 record) internal pure returns (uint256) {
        unchecked {
            return ((record >> 176 & 0x7ff) << (record >> 187 & 0x1f)) * CENT;
        }
    }

    /// @dev Never negative: a clock behind the record's own reads as age zero.
    function ageOf(uint256 record, uint256 time) internal pure returns (uint256 age) {
        uint256 asOfTime = asOfTimeOf(record);
        assembly ("memory-safe") {
            age := mul(gt(time, asOfTime), sub(time, asOfTime))
        }
    }

    /// @dev Size of the struct Record, in memory and as ABI-encoded: it has static members only.
    uint256 internal constant VIEW_SIZE = 0x1c0;

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
        uint256 safeAmount = safeAmountOf(record);
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
                mstore(add(place, 0x80), byte(10, record))
                mstore(add(place, 0xa0), and(shr(216, record), 0xffff))
                mstore(add(place, 0xc0), eq(flags, SANCTIONED))
                mstore(add(place, 0xe0), eq(flags, INSUFFICIENT))
                mstore(add(place, 0x100), and(shr(192, record), 0xffff))
                mstore(add(place, 0x120), and(shr(96, record), mask))
                mstore(add(place, 0x140), asOfTime)
                mstore(add(place, 0x160), and(record, mask))
                mstore(add(place, 0x180), age)
                mstore(add(place, 0x1a0), safeAmount)
            }
        }
    }
}
