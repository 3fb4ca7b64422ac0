// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IAgentHealthOracle} from "../../contracts/interfaces/IAgentHealthOracle.sol";
import {OracleFixture} from "./OracleFixture.sol";

/// @dev The same vectors as test/service/chain/oracle-codec.test.ts reads; scripts/generate-golden.ts writes them.
contract OracleGoldenTest is OracleFixture {
    string private packing;
    string private eip712;
    string private merkle;

    function setUp() public override {
        packing = vm.readFile("test/golden/oracle-packing.json");
        eip712 = vm.readFile("test/golden/oracle-eip712.json");
        merkle = vm.readFile("test/golden/oracle-merkle.json");
        super.setUp();
    }

    /// @dev The oracle whose address the vectors were signed for.
    function _deploy(address[] memory) internal override returns (IAgentHealthOracle) {
        address[] memory signers = new address[](1);
        signers[0] = vm.parseJsonAddress(eip712, ".signer");
        vm.startPrank(vm.parseJsonAddress(eip712, ".deployer"));
        IAgentHealthOracle deployed = super._deploy(signers);
        vm.stopPrank();
        return deployed;
    }

    function test_ThePublishedWordReadsAsItsFields() external {
        uint256 count;
        for (string memory at = _case(0); vm.keyExists(packing, at); at = _case(++count)) {
            IAgentHealthOracle.Score memory expected = _scoreAt(packing, at);
            vm.roll(expected.asOf);
            vm.warp(expected.asOfTime);
            _publish(expected.asOf, expected.asOfTime, _bytes32At(packing, at, ".word"));
            IAgentHealthOracle.Record memory record = oracle.scoreOf(expected.wallet);
            _assertRecord(record, expected, _uintAt(packing, at, ".grade"));
            assertEq(record.validUntil, expected.validUntil, "validUntil");
            assertEq(record.safeAmount, _uintAt(packing, at, ".safeMicroUsd"), "safe amount");
        }
        assertGt(count, 6, "cases");
    }

    function test_TheStoredSlotIsTheRecord() external {
        uint256 count;
        for (string memory at = _case(0); vm.keyExists(packing, at); at = _case(++count)) {
            IAgentHealthOracle.Score memory score = _scoreAt(packing, at);
            bytes32 record = _bytes32At(packing, at, ".record");
            vm.roll(score.asOf);
            vm.warp(score.asOfTime);
            _publish(score.asOf, score.asOfTime, _bytes32At(packing, at, ".word"));
            assertEq(_slotOf(score.wallet), record, "slot");
            _assertRecord(oracle.decodeRecord(record), score, _uintAt(packing, at, ".grade"));
        }
    }

    function test_EverySafeAmountIsThatOfItsCode() external {
        uint256 count;
        string memory at = ".safeAmounts[0]";
        for (; vm.keyExists(packing, at); at = string.concat(".safeAmounts[", vm.toString(count), "]")) {
            address wallet = address(uint160(0x1000 + count++));
            uint256 code = _uintAt(packing, at, ".code");
            _publish(HEAD, NOW, _withSafe(_word(wallet, 80, 0), code));
            assertEq(oracle.scoreOf(wallet).safeAmount, _uintAt(packing, at, ".microUsd"), "safe amount");
        }
        assertEq(count, 98, "codes");
    }

    function test_EveryScoreHasTheGradeOfTheTable() external {
        uint256[] memory grades = vm.parseJsonUintArray(packing, ".grades");
        assertEq(grades.length, 101, "grades");
        for (uint256 score; score <= 100; ++score) {
            address wallet = address(uint160(0x1000 + score));
            _publish(HEAD, NOW, _word(wallet, score, 0));
            assertEq(uint256(oracle.scoreOf(wallet).grade), grades[score], "grade");
            assertEq(uint256(_gradeBySpecification(score)), grades[score], "grade by the table");
        }
    }

    function test_TheDomainIsTheSame() external {
        assertEq(address(oracle), vm.parseJsonAddress(eip712, ".verifyingContract"), "address");
        assertEq(block.chainid, vm.parseJsonUint(eip712, ".chainId"), "chain id");
        assertEq(oracle.domainSeparator(), vm.parseJsonBytes32(eip712, ".domainSeparator"), "separator");
    }

    function test_DigestsAndSignaturesAreTheSame() external {
        uint256 count;
        for (string memory at = _case(0); vm.keyExists(eip712, at); at = _case(++count)) {
            IAgentHealthOracle.Score memory score = _scoreAt(eip712, at);
            assertEq(oracle.scoreDigest(score), _bytes32At(eip712, at, ".digest"), "digest");
            vm.roll(score.asOf);
            vm.warp(score.validUntil);
            assertTrue(
                oracle.publishSigned(score, vm.parseJsonBytes(eip712, string.concat(at, ".signature")))
            );
        }
        assertGt(count, 6, "cases");
    }

    function test_EveryLeafOfEveryTreeIsProven() external {
        uint64 epoch;
        for (string memory tree = _tree(0); vm.keyExists(merkle, tree); tree = _tree(epoch)) {
            ++epoch;
            vm.prank(PUBLISHER);
            oracle.publishRoot(_bytes32At(merkle, tree, ".root"), epoch, "");
            uint256 size = _uintAt(merkle, tree, ".size");
            for (uint256 i; i < size; ++i) {
                _assertLeaf(string.concat(tree, ".leaves[", vm.toString(i), "]"));
            }
        }
        assertGt(epoch, 5, "trees");
    }

    function _assertLeaf(string memory at) private {
        address wallet = vm.parseJsonAddress(merkle, string.concat(at, ".wallet"));
        bytes32 record = _bytes32At(merkle, at, ".record");
        bytes32[] memory proof = vm.parseJsonBytes32Array(merkle, string.concat(at, ".proof"));
        assertTrue(oracle.verify(wallet, record, proof), "leaf");
        assertFalse(oracle.verify(wallet, bytes32(uint256(record) ^ 1), proof), "another record");
        assertFalse(oracle.verify(STRANGER, record, proof), "another wallet");
        if (proof.length == 0) return;
        proof[0] = bytes32(uint256(proof[0]) ^ 1);
        assertFalse(oracle.verify(wallet, record, proof), "another proof");
    }

    function _assertRecord(
        IAgentHealthOracle.Record memory record,
        IAgentHealthOracle.Score memory expected,
        uint256 grade
    ) private {
        assertTrue(record.exists, "exists");
        assertEq(record.score, expected.score, "score");
        assertEq(record.d1, expected.d1, "d1");
        assertEq(record.d2, expected.d2, "d2");
        assertEq(uint256(record.grade), grade, "grade");
        assertEq(record.confidence, expected.confidence, "confidence");
        assertEq(record.sanctioned, expected.flags == SANCTIONED, "sanctioned");
        assertEq(record.insufficient, expected.flags == INSUFFICIENT, "insufficient");
        assertEq(record.modelVersion, expected.modelVersion, "model version");
        assertEq(record.asOf, expected.asOf, "asOf");
        assertEq(record.asOfTime, expected.asOfTime, "asOfTime");
    }

    /// @dev The only slot that reading a wallet's floor touches.
    function _slotOf(address wallet) private returns (bytes32) {
        vm.record();
        oracle.asOfFloor(wallet);
        (bytes32[] memory reads,) = vm.accesses(address(oracle));
        assertEq(reads.length, 1, "one slot per wallet");
        return vm.load(address(oracle), reads[0]);
    }

    function _scoreAt(string memory json, string memory at)
        private
        view
        returns (IAgentHealthOracle.Score memory score)
    {
        score.wallet = vm.parseJsonAddress(json, string.concat(at, ".wallet"));
        score.score = uint8(_uintAt(json, at, ".score"));
        score.d1 = uint8(_uintAt(json, at, ".d1"));
        score.d2 = uint8(_uintAt(json, at, ".d2"));
        score.confidence = uint16(_uintAt(json, at, ".confidence"));
        score.flags = uint8(_uintAt(json, at, ".flags"));
        score.modelVersion = uint16(_uintAt(json, at, ".modelVersion"));
        score.asOf = uint64(_uintAt(json, at, ".asOf"));
        score.asOfTime = uint64(_uintAt(json, at, ".asOfTime"));
        score.validUntil = uint64(_uintAt(json, at, ".validUntil"));
        score.safe = uint16(_uintAt(json, at, ".safe"));
    }

    function _uintAt(string memory json, string memory at, string memory key) private pure returns (uint256) {
        return vm.parseJsonUint(json, string.concat(at, key));
    }

    function _bytes32At(string memory json, string memory at, string memory key)
        private
        pure
        returns (bytes32)
    {
        return vm.parseJsonBytes32(json, string.concat(at, key));
    }

    function _case(uint256 index) private pure returns (string memory) {
        return string.concat(".cases[", vm.toString(index), "]");
    }

    function _tree(uint256 index) private pure returns (string memory) {
        return string.concat(".trees[", vm.toString(index), "]");
    }
}
