// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {PRBTest} from "@prb/test/PRBTest.sol";
import {Vm} from "@prb/test/Vm.sol";

import {IdentityRegistry} from "../../../devnet/contracts/IdentityRegistry.sol";
import {ValidationRegistry} from "../../../devnet/contracts/ValidationRegistry.sol";

contract ValidationRegistryTest is PRBTest {
    bytes32 private constant REQUESTED = keccak256("ValidationRequest(address,uint256,string,bytes32)");
    bytes32 private constant RESPONDED =
        keccak256("ValidationResponse(address,uint256,bytes32,uint8,string,bytes32,string)");

    address private constant OWNER = address(0xA11CE);
    address private constant VALIDATOR = address(0x7A11D);
    address private constant STRANGER = address(0x5717);
    bytes32 private constant HASH = keccak256("request");

    ValidationRegistry private registry;
    uint256 private agentId;

    function setUp() external {
        vm.warp(1_790_000_000);
        IdentityRegistry agents = new IdentityRegistry();
        registry = new ValidationRegistry(address(agents));
        vm.prank(OWNER);
        agentId = agents.register("a");
    }

    function test_SelectorsAreThoseOfTheStandard() external {
        assertEq(ValidationRegistry.validationRequest.selector, bytes4(0xaaf400c4));
        assertEq(ValidationRegistry.validationResponse.selector, bytes4(0x3d659a96));
        assertEq(ValidationRegistry.getValidationStatus.selector, bytes4(0xff2febfc));
    }

    function test_ARequestIsLoggedAndListed() external {
        vm.recordLogs();
        _request(OWNER);
        Vm.Log memory log = vm.getRecordedLogs()[0];
        assertEq(log.topics[0], REQUESTED);
        assertEq(log.topics[1], bytes32(uint256(uint160(VALIDATOR))));
        assertEq(log.topics[2], bytes32(agentId));
        assertEq(log.topics[3], HASH);
        assertEq(abi.decode(log.data, (string)), "https://example.org/r");
        assertEq(registry.getAgentValidations(agentId)[0], HASH);
        assertEq(registry.getValidatorRequests(VALIDATOR)[0], HASH);
        _assertSummary(0, 0);
    }

    function test_OnlyTheAgentAsksAndAHashIsTakenOnce() external {
        vm.expectRevert("Not authorized");
        _request(STRANGER);
        _request(OWNER);
        vm.expectRevert("exists");
        _request(OWNER);
        vm.expectRevert("bad validator");
        vm.prank(OWNER);
        registry.validationRequest(address(0), agentId, "", keccak256("other"));
    }

    function test_OnlyTheNamedValidatorAnswersFromZeroToHundred() external {
        vm.expectRevert("unknown");
        _respond(VALIDATOR, 1);
        _request(OWNER);
        vm.expectRevert("not validator");
        _respond(STRANGER, 1);
        vm.expectRevert("resp>100");
        _respond(VALIDATOR, 101);
    }

    function test_ALaterAnswerReplacesTheFirst() external {
        _request(OWNER);
        vm.recordLogs();
        _respond(VALIDATOR, 50);
        assertEq(vm.getRecordedLogs()[0].topics[0], RESPONDED);
        _respond(VALIDATOR, 0);
        (address validator, uint256 ofAgent, uint8 response,, string memory tag,) =
            registry.getValidationStatus(HASH);
        assertEq(validator, VALIDATOR);
        assertEq(ofAgent, agentId);
        assertEq(response, 0);
        assertEq(tag, "ahs");
        _assertSummary(1, 0);
    }

    function _request(address caller) private {
        vm.prank(caller);
        registry.validationRequest(VALIDATOR, agentId, "https://example.org/r", HASH);
    }

    function _respond(address caller, uint8 response) private {
        vm.prank(caller);
        registry.validationResponse(HASH, response, "", bytes32(0), "ahs");
    }

    function _assertSummary(uint64 count, uint8 average) private {
        address[] memory validators = new address[](1);
        validators[0] = VALIDATOR;
        (uint64 foundCount, uint8 found) = registry.getSummary(agentId, validators, "ahs");
        assertEq(foundCount, count);
        assertEq(found, average);
    }
}
