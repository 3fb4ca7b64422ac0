// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {PRBTest} from "@prb/test/PRBTest.sol";

import {AgentLaunchpad} from "../../../devnet/contracts/AgentLaunchpad.sol";
import {ServiceRegistryL2} from "../../../devnet/contracts/ServiceRegistryL2.sol";

contract FurtherRegistriesTest is PRBTest {
    address private constant OTHER = address(0x07);

    event NewPersona(uint256 virtualId, address token, address dao, address tba, address veToken, address lp);

    function test_AServiceBelongsToItsCreatorWhoAloneChangesIt() external {
        ServiceRegistryL2 registry = new ServiceRegistryL2();
        vm.expectEmit();
        emit ServiceRegistryL2.CreateService(1, "a");
        emit ServiceRegistryL2.CreateMultisigWithAgents(1, address(this));
        assertEq(registry.create("a"), 1);
        assertEq(registry.create("b"), 2);
        vm.expectEmit();
        emit ServiceRegistryL2.UpdateService(2, "c");
        registry.update(2, "c");
        vm.expectRevert(abi.encodeWithSelector(ServiceRegistryL2.OwnerOnly.selector, OTHER, address(this)));
        vm.prank(OTHER);
        registry.update(1, "d");
    }

    function test_ALaunchedAgentActsThroughItsLauncher() external {
        AgentLaunchpad launchpad = new AgentLaunchpad();
        vm.expectEmit();
        emit NewPersona(1, address(0), address(0), address(this), address(0), address(0));
        assertEq(launchpad.launch(), 1);
        assertEq(launchpad.launch(), 2);
    }
}
