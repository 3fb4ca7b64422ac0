// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {PRBTest} from "@prb/test/PRBTest.sol";

import {IAgentHealthOracle} from "../../contracts/interfaces/IAgentHealthOracle.sol";
import {IIdentityRegistry} from "../../contracts/interfaces/IIdentityRegistry.sol";

/// @dev A registry whose agents the test names.
contract RegistryOfTests is IIdentityRegistry {
    mapping(uint256 agentId => address) public getAgentWallet;

    function set(uint256 agentId, address wallet) external {
        getAgentWallet[agentId] = wallet;
    }

    /// @dev The oracle asks for wallets alone.
    function isAuthorizedOrOwner(address, uint256) external pure returns (bool) {
        return false;
    }
}

/// @dev An oracle at a fixed block and time. Another implementation of the interface runs the same suites by
/// overriding `_deploy`.
abstract contract OracleFixture is PRBTest {
    uint64 internal constant NOW = 1_790_000_000;
    uint64 internal constant HEAD = 45_000_000;
    uint64 internal constant DAY = 1 days;
    uint16 internal constant MODEL = 20260;
    uint8 internal constant SANCTIONED = 1;
    uint8 internal constant INSUFFICIENT = 2;

    address internal constant OWNER = address(0xA110);
    address internal constant PUBLISHER = address(0xB0B);
    address internal constant STRANGER = address(0x5717);
    address internal constant WALLET = 0x52908400098527886E0F7030069857D2E4169EE7;
    uint256 internal constant SIGNER_KEY = 0x51;

    address internal signer;
    RegistryOfTests internal registry;
    IAgentHealthOracle internal oracle;

    function setUp() public virtual {
        vm.roll(HEAD);
        vm.warp(NOW);
        signer = vm.addr(SIGNER_KEY);
        registry = new RegistryOfTests();
        address[] memory signers = new address[](1);
        signers[0] = signer;
        oracle = _deploy(signers);
    }

    function _deploy(address[] memory signers) internal virtual returns (IAgentHealthOracle) {
        bytes memory code = vm.getCode("AgentHealthOracle.sol:AgentHealthOracle");
        code = bytes.concat(code, abi.encode(OWNER, PUBLISHER, signers, address(registry), 0));
        address deployed;
        assembly ("memory-safe") {
            deployed := create(0, add(code, 0x20), mload(code))
        }
        require(deployed != address(0), "the oracle was not deployed");
        return IAgentHealthOracle(deployed);
    }

    function _word(address wallet, uint256 score, uint256 flags) internal pure returns (bytes32) {
        return _word(wallet, score, score, score, 9000, flags);
    }

    function _word(address wallet, uint256 score, uint256 d1, uint256 d2, uint256 confidence, uint256 flags)
        internal
        pure
        returns (bytes32)
    {
        return bytes32(
            uint256(uint160(wallet)) << 96 | score << 88 | d1 << 80 | d2 << 72 | confidence << 56 | flags
                << 48 | uint256(MODEL) << 32
        );
    }

    /// @param safe The code of a safe amount.
    function _withSafe(bytes32 word, uint256 safe) internal pure returns (bytes32) {
        return word | bytes32(safe << 16);
    }

    function _publish(uint64 asOf, uint64 asOfTime, bytes32 word) internal {
        bytes32[] memory words = new bytes32[](1);
        words[0] = word;
        vm.prank(PUBLISHER);
        oracle.publish(asOf, asOfTime, words);
    }

    /// @dev A record of WALLET taken now.
    function _publishNow(uint256 score, uint256 flags) internal {
        _publish(HEAD, NOW, _word(WALLET, score, flags));
    }

    function _score(uint8 points) internal pure returns (IAgentHealthOracle.Score memory) {
        return IAgentHealthOracle.Score({
            wallet: WALLET,
            score: points,
            d1: points,
            d2: points,
            confidence: 9000,
            flags: 0,
            modelVersion: MODEL,
            asOf: HEAD,
            asOfTime: NOW,
            validUntil: NOW + 2 * DAY,
            safe: 2000
        });
    }

    function _sign(uint256 key, IAgentHealthOracle.Score memory score) internal view returns (bytes memory) {
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(key, oracle.scoreDigest(score));
        return abi.encodePacked(r, s, v);
    }

    function _gradeBySpecification(uint256 score) internal pure returns (IAgentHealthOracle.Grade) {
        if (score >= 90) return IAgentHealthOracle.Grade.A;
        if (score >= 75) return IAgentHealthOracle.Grade.B;
        if (score >= 60) return IAgentHealthOracle.Grade.C;
        if (score >= 40) return IAgentHealthOracle.Grade.D;
        if (score >= 20) return IAgentHealthOracle.Grade.E;
        return IAgentHealthOracle.Grade.F;
    }

    function _assertNoRecord(address wallet) internal {
        IAgentHealthOracle.Record memory none;
        assertEq(keccak256(abi.encode(oracle.scoreOf(wallet))), keccak256(abi.encode(none)), "no record");
    }

    function _assertStatus(IAgentHealthOracle.Status actual, IAgentHealthOracle.Status expected) internal {
        assertEq(uint256(actual), uint256(expected), "status");
    }

    function _assertRoute(IAgentHealthOracle.Route actual, IAgentHealthOracle.Route expected) internal {
        assertEq(uint256(actual), uint256(expected), "route");
    }

    function _assertGrade(IAgentHealthOracle.Grade actual, IAgentHealthOracle.Grade expected) internal {
        assertEq(uint256(actual), uint256(expected), "grade");
    }
}
