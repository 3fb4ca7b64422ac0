// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {Vm} from "@prb/test/Vm.sol";

import {IAgentHealthOracle} from "../../contracts/interfaces/IAgentHealthOracle.sol";

/// @dev Drives the oracle at random, authorised or not, and keeps its own account of what the authorised calls
/// should have left behind.
contract OracleHandler {
    struct Expected {
        bool everPublished;
        bool exists;
        bytes32 word;
        uint64 asOfTime;
        uint64 floor;
    }

    Vm private constant vm = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));
    uint256 private constant WALLETS = 6;

    IAgentHealthOracle public immutable oracle;
    address private immutable owner;
    address private immutable publisher;
    uint256 private immutable signerKey;

    uint64 public head;
    uint64 public time;
    bool public floorFell;
    uint256 public stored;
    mapping(address wallet => Expected) private _expected;

    constructor(IAgentHealthOracle oracle_, address owner_, address publisher_, uint256 signerKey_) {
        (oracle, owner, publisher, signerKey) = (oracle_, owner_, publisher_, signerKey_);
        (head, time) = (uint64(block.number), uint64(block.timestamp));
    }

    /// @dev Restores the block and time of the last step. No step may lower a floor.
    modifier step() {
        vm.roll(head);
        vm.warp(time);
        uint64[WALLETS] memory before;
        for (uint256 i; i < WALLETS; ++i) {
            before[i] = oracle.asOfFloor(wallet(i));
        }
        _;
        for (uint256 i; i < WALLETS; ++i) {
            if (oracle.asOfFloor(wallet(i)) < before[i]) floorFell = true;
        }
    }

    function expected(address who) external view returns (Expected memory) {
        return _expected[who];
    }

    function walletCount() external pure returns (uint256) {
        return WALLETS + 1;
    }

    /// @dev The last wallet is one that only strangers try to write.
    function wallet(uint256 index) public pure returns (address) {
        return address(uint160(0x1000 + index));
    }

    function advance(uint256 blocks) external {
        head += uint64(1 + blocks % 50);
        time += uint64(2 * (1 + blocks % 50));
    }

    function publish(uint256 seed, uint256 back, uint256 count) external step {
        (uint64 asOf, uint64 asOfTime) = _recent(back);
        bytes32[] memory words = new bytes32[](1 + count % 4);
        for (uint256 i; i < words.length; ++i) {
            words[i] = _goodWord(uint256(keccak256(abi.encode(seed, i))));
        }
        vm.prank(publisher);
        try oracle.publish(asOf, asOfTime, words) {
            for (uint256 i; i < words.length; ++i) {
                _expect(words[i], asOf, asOfTime);
            }
        } catch {}
    }

    /// @dev Any word at any as-of, also ones that must be refused; whatever gets through is accounted for.
    function publishAnything(uint256 word, uint64 asOf, uint64 asOfTime) external step {
        address who = wallet(word % WALLETS);
        bytes32[] memory words = new bytes32[](1);
        words[0] = bytes32(word << 160 >> 160 | uint256(uint160(who)) << 96);
        asOf = head - 100 + asOf % 200;
        asOfTime = time - 100 + asOfTime % 200;
        vm.prank(publisher);
        try oracle.publish(asOf, asOfTime, words) {
            _expect(words[0], asOf, asOfTime);
        } catch {}
    }

    function publishAsStranger(address caller, uint256 seed, uint256 back) external step {
        if (caller == publisher) return;
        (uint64 asOf, uint64 asOfTime) = _recent(back);
        bytes32[] memory words = new bytes32[](2);
        words[0] = _goodWord(seed);
        words[1] = _withWallet(words[0], wallet(WALLETS));
        vm.prank(caller);
        try oracle.publish(asOf, asOfTime, words) {} catch {}
    }

    function relay(uint256 seed, uint256 back) external step {
        (uint64 asOf, uint64 asOfTime) = _recent(back);
        bytes32 word = _goodWord(seed);
        IAgentHealthOracle.Score memory score = _toScore(word, asOf, asOfTime);
        try oracle.publishSigned(score, _sign(signerKey, score)) returns (bool done) {
            if (done) _expect(word, asOf, asOfTime);
        } catch {}
    }

    function relayForged(uint256 key, uint256 seed, uint256 back) external step {
        key = 1 + key % 1000;
        if (key == signerKey) return;
        (uint64 asOf, uint64 asOfTime) = _recent(back);
        IAgentHealthOracle.Score memory score =
            _toScore(_withWallet(_goodWord(seed), wallet(seed % (WALLETS + 1))), asOf, asOfTime);
        try oracle.publishSigned(score, _sign(key, score)) {} catch {}
    }

    function invalidate(uint256 index) external step {
        address[] memory wallets = new address[](1);
        wallets[0] = wallet(index % WALLETS);
        vm.prank(owner);
        oracle.invalidate(wallets);
        _expected[wallets[0]].exists = false;
    }

    function invalidateAsStranger(address caller, uint256 index) external step {
        if (caller == owner) return;
        address[] memory wallets = new address[](1);
        wallets[0] = wallet(index % WALLETS);
        vm.prank(caller);
        try oracle.invalidate(wallets) {} catch {}
    }

    /// @dev Paused a quarter of the time, so that most publications get through.
    function setPaused(uint256 seed) external step {
        vm.prank(owner);
        oracle.setPaused(seed % 4 == 0);
    }

    function _expect(bytes32 word, uint64 asOf, uint64 asOfTime) private {
        Expected storage entry = _expected[address(uint160(uint256(word) >> 96))];
        if (asOf <= entry.floor) return;
        entry.everPublished = true;
        entry.exists = true;
        entry.word = word;
        entry.asOfTime = asOfTime;
        entry.floor = asOf;
        ++stored;
    }

    function _recent(uint256 back) private view returns (uint64 asOf, uint64 asOfTime) {
        uint64 blocks = uint64(back % 60);
        return (head - blocks, time - 2 * blocks);
    }

    function _goodWord(uint256 seed) private pure returns (bytes32) {
        uint256 flags = seed % 3;
        uint256 scores =
            flags == 2 ? 0 : (seed >> 8) % 101 << 16 | (seed >> 16) % 101 << 8 | (seed >> 24) % 101;
        uint256 safe = flags == 1 ? 0 : (seed >> 96) % 65_536;
        if (safe >> 11 != 0) safe |= 1024;
        uint256 word =
            safe << 16 | scores << 72 | (seed >> 32) % 10_001 << 56 | flags << 48 | uint256(20260) << 32;
        return _withWallet(bytes32(word), wallet((seed >> 64) % WALLETS));
    }

    function _withWallet(bytes32 word, address who) private pure returns (bytes32) {
        return bytes32(uint256(uint96(uint256(word))) | uint256(uint160(who)) << 96);
    }

    function _toScore(bytes32 packed, uint64 asOf, uint64 asOfTime)
        private
        pure
        returns (IAgentHealthOracle.Score memory score)
    {
        uint256 word = uint256(packed);
        score = IAgentHealthOracle.Score({
            wallet: address(uint160(word >> 96)),
            score: uint8(word >> 88),
            d1: uint8(word >> 80),
            d2: uint8(word >> 72),
            confidence: uint16(word >> 56),
            flags: uint8(word >> 48),
            modelVersion: uint16(word >> 32),
            asOf: asOf,
            asOfTime: asOfTime,
            validUntil: asOfTime + 1 days,
            safe: uint16(word >> 16)
        });
    }

    function _sign(uint256 key, IAgentHealthOracle.Score memory score) private view returns (bytes memory) {
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(key, oracle.scoreDigest(score));
        return abi.encodePacked(r, s, v);
    }
}
