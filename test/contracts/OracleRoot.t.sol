// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IAgentHealthOracle} from "../../contracts/interfaces/IAgentHealthOracle.sol";
import {OracleFixture} from "./OracleFixture.sol";

/// publishRoot
/// ├── caller is not the publisher → NotPublisher
/// ├── the root is zero → EmptyRoot
/// ├── the epoch is not above the latest → EpochNotNewer
/// └── otherwise the root replaces the last one
/// verify: true for leaves of the latest root only (the vectors of OracleGolden prove real trees)
contract OracleRootTest is OracleFixture {
    bytes32 private constant RECORD = bytes32(uint256(7));

    event RootPublished(uint64 indexed epoch, bytes32 root, string uri);

    function test_RevertWhen_CallerIsNotPublisher() external {
        vm.expectRevert(abi.encodeWithSelector(IAgentHealthOracle.NotPublisher.selector, OWNER));
        vm.prank(OWNER);
        oracle.publishRoot(bytes32(uint256(1)), 1, "");
    }

    function test_RevertWhen_TheRootIsZero() external {
        vm.expectRevert(IAgentHealthOracle.EmptyRoot.selector);
        vm.prank(PUBLISHER);
        oracle.publishRoot(bytes32(0), 1, "");
    }

    function test_RevertWhen_TheEpochIsNotNewer() external {
        vm.startPrank(PUBLISHER);
        oracle.publishRoot(bytes32(uint256(1)), 5, "");
        vm.expectRevert(abi.encodeWithSelector(IAgentHealthOracle.EpochNotNewer.selector, 5, 5));
        oracle.publishRoot(bytes32(uint256(2)), 5, "");
        vm.expectRevert(abi.encodeWithSelector(IAgentHealthOracle.EpochNotNewer.selector, 4, 5));
        oracle.publishRoot(bytes32(uint256(2)), 4, "");
    }

    function test_ANewRootReplacesTheLast() external {
        bytes32 leaf = _leaf(WALLET, RECORD);
        bytes32[] memory none = new bytes32[](0);
        assertFalse(oracle.verify(WALLET, RECORD, none));
        vm.expectEmit({
            checkTopic1: true, checkTopic2: true, checkTopic3: true, checkData: true, emitter: address(oracle)
        });
        emit RootPublished(1, leaf, "https://example.org/epochs/1");
        vm.startPrank(PUBLISHER);
        oracle.publishRoot(leaf, 1, "https://example.org/epochs/1");
        assertTrue(oracle.verify(WALLET, RECORD, none));
        assertFalse(oracle.verify(STRANGER, RECORD, none));
        assertFalse(oracle.verify(WALLET, bytes32(uint256(8)), none));

        oracle.publishRoot(_leaf(STRANGER, RECORD), type(uint64).max, "");
        assertFalse(oracle.verify(WALLET, RECORD, none));
        assertTrue(oracle.verify(STRANGER, RECORD, none));
        (uint64 epoch, bytes32 root) = oracle.latestRoot();
        assertEq(epoch, type(uint64).max);
        assertEq(root, _leaf(STRANGER, RECORD));
        assertEq(oracle.publisher(), PUBLISHER);
    }

    function test_AnInnerNodeIsNoLeaf() external {
        bytes32 inner = keccak256(abi.encode(WALLET, RECORD));
        vm.prank(PUBLISHER);
        oracle.publishRoot(inner, 1, "");
        assertFalse(oracle.verify(WALLET, RECORD, new bytes32[](0)));
    }

    function _leaf(address wallet, bytes32 record) private pure returns (bytes32) {
        return keccak256(bytes.concat(keccak256(abi.encode(wallet, record))));
    }
}
