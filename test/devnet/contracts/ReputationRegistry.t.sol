// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {PRBTest} from "@prb/test/PRBTest.sol";
import {Vm} from "@prb/test/Vm.sol";

import {IdentityRegistry} from "../../../devnet/contracts/IdentityRegistry.sol";
import {ReputationRegistry} from "../../../devnet/contracts/ReputationRegistry.sol";

contract ReputationRegistryTest is PRBTest {
    bytes32 private constant NEW_FEEDBACK = keccak256(
        "NewFeedback(uint256,address,uint64,int128,uint8,string,string,string,string,string,bytes32)"
    );
    bytes32 private constant FEEDBACK_REVOKED = keccak256("FeedbackRevoked(uint256,address,uint64)");

    address private constant OWNER = address(0xA11CE);
    address private constant CLIENT = address(0xC11E);
    address private constant OTHER = address(0x0711E);

    IdentityRegistry private agents;
    ReputationRegistry private registry;
    uint256 private agentId;

    function setUp() external {
        agents = new IdentityRegistry();
        registry = new ReputationRegistry(address(agents));
        vm.prank(OWNER);
        agentId = agents.register("a");
    }

    function test_SelectorsAreThoseOfTheStandard() external {
        assertEq(ReputationRegistry.giveFeedback.selector, bytes4(0x3c036a7e));
        assertEq(ReputationRegistry.getSummary.selector, bytes4(0x81bbba58));
        assertEq(
            ReputationRegistry.revokeFeedback.selector, bytes4(keccak256("revokeFeedback(uint256,uint64)"))
        );
    }

    function test_IndexesCountFromOneForEachClient() external {
        _give(CLIENT, 80, 0, "ahs");
        _give(CLIENT, 70, 0, "ahs");
        _give(OTHER, 10, 0, "ahs");
        assertEq(registry.getLastIndex(agentId, CLIENT), 2);
        assertEq(registry.getLastIndex(agentId, OTHER), 1);
        assertEq(registry.getClients(agentId).length, 2);
        (int128 value,, string memory tag1,, bool isRevoked) = registry.readFeedback(agentId, CLIENT, 2);
        assertEq(value, 70);
        assertEq(tag1, "ahs");
        assertFalse(isRevoked);
    }

    function test_FeedbackIsLoggedWithItsIndexFirst() external {
        vm.recordLogs();
        _give(CLIENT, 80, 0, "ahs");
        Vm.Log memory log = vm.getRecordedLogs()[0];
        assertEq(log.topics[0], NEW_FEEDBACK);
        assertEq(log.topics[1], bytes32(agentId));
        assertEq(log.topics[2], bytes32(uint256(uint160(CLIENT))));
        assertEq(log.topics[3], keccak256("ahs"));
        (uint64 index, int128 value,,, string memory tag2,, string memory uri, bytes32 hash) =
            abi.decode(log.data, (uint64, int128, uint8, string, string, string, string, bytes32));
        assertEq(index, 1);
        assertEq(value, 80);
        assertEq(tag2, "AHS-2026.2");
        assertEq(uri, "https://example.org/f");
        assertEq(hash, bytes32(uint256(7)));
    }

    function test_OwnersAndOperatorsAreRefused() external {
        vm.prank(OWNER);
        agents.setApprovalForAll(OTHER, true);
        vm.expectRevert("Self-feedback not allowed");
        _give(OWNER, 100, 0, "ahs");
        vm.expectRevert("Self-feedback not allowed");
        _give(OTHER, 100, 0, "ahs");
    }

    function test_AnUnknownAgentAndValuesOutOfRangeAreRefused() external {
        vm.expectRevert();
        registry.giveFeedback(agentId + 1, 1, 0, "", "", "", "", 0);
        vm.expectRevert("too many decimals");
        _give(CLIENT, 1, 19, "");
        vm.expectRevert("value too large");
        _give(CLIENT, 1e38 + 1, 0, "");
    }

    function test_TheAverageLeavesOutRevokedEntriesAndOtherTags() external {
        _give(CLIENT, 80, 0, "ahs");
        _give(CLIENT, 40, 0, "ahs");
        _give(CLIENT, 1, 0, "uptime");
        _assertSummary("ahs", 2, 60, 0);
        vm.recordLogs();
        vm.prank(CLIENT);
        registry.revokeFeedback(agentId, 1);
        assertEq(vm.getRecordedLogs()[0].topics[0], FEEDBACK_REVOKED);
        _assertSummary("ahs", 1, 40, 0);
        _assertSummary("", 2, 20, 0);
        _assertSummary("none", 0, 0, 0);
    }

    function test_TheAverageHasTheDecimalsOfMostEntries() external {
        _give(CLIENT, 9977, 2, "ahs");
        _give(CLIENT, 9977, 2, "ahs");
        _give(CLIENT, 50, 0, "ahs");
        _assertSummary("ahs", 3, 8318, 2);
    }

    function test_OnlyAnOwnEntryCanBeRevokedAndOnce() external {
        _give(CLIENT, 80, 0, "ahs");
        vm.expectRevert("index out of bounds");
        vm.prank(OTHER);
        registry.revokeFeedback(agentId, 1);
        vm.startPrank(CLIENT);
        vm.expectRevert("index must be > 0");
        registry.revokeFeedback(agentId, 0);
        registry.revokeFeedback(agentId, 1);
        vm.expectRevert("Already revoked");
        registry.revokeFeedback(agentId, 1);
    }

    function test_ASummaryNeedsClients() external {
        vm.expectRevert("clientAddresses required");
        registry.getSummary(agentId, new address[](0), "", "");
    }

    function _give(address client, int128 value, uint8 decimals, string memory tag1) private {
        vm.prank(client);
        registry.giveFeedback(
            agentId, value, decimals, tag1, "AHS-2026.2", "", "https://example.org/f", bytes32(uint256(7))
        );
    }

    function _assertSummary(string memory tag1, uint64 count, int128 average, uint8 decimals) private {
        address[] memory clients = new address[](1);
        clients[0] = CLIENT;
        (uint64 foundCount, int128 found, uint8 foundDecimals) =
            registry.getSummary(agentId, clients, tag1, "");
        assertEq(foundCount, count);
        assertEq(found, average);
        assertEq(foundDecimals, decimals);
    }
}
