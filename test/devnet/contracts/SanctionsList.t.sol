// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {PRBTest} from "@prb/test/PRBTest.sol";
import {Ownable} from "solady/auth/Ownable.sol";

import {SanctionsList} from "../../../devnet/contracts/SanctionsList.sol";

contract SanctionsListTest is PRBTest {
    address private constant LISTED = address(0xBAD);

    SanctionsList private list;
    address[] private wallets;

    function setUp() external {
        list = new SanctionsList(address(this));
        wallets.push(LISTED);
        wallets.push(address(0xBAD2));
    }

    function test_ListingAndDelistingAreAnsweredAndLogged() external {
        assertFalse(list.isSanctioned(LISTED));
        vm.expectEmit(true, true, true, true);
        emit SanctionsList.SanctionedAddressesAdded(wallets);
        list.addToSanctionsList(wallets);
        assertTrue(list.isSanctioned(LISTED));

        vm.expectEmit(true, true, true, true);
        emit SanctionsList.SanctionedAddressesRemoved(wallets);
        list.removeFromSanctionsList(wallets);
        assertFalse(list.isSanctioned(LISTED));
    }

    function test_TheVerboseAnswerLeavesAnEvent() external {
        vm.expectEmit(true, true, true, true);
        emit SanctionsList.NonSanctionedAddress(LISTED);
        assertFalse(list.isSanctionedVerbose(LISTED));
        list.addToSanctionsList(wallets);
        vm.expectEmit(true, true, true, true);
        emit SanctionsList.SanctionedAddress(LISTED);
        assertTrue(list.isSanctionedVerbose(LISTED));
    }

    function test_OnlyTheOwnerChangesTheList() external {
        vm.startPrank(LISTED);
        vm.expectRevert(Ownable.Unauthorized.selector);
        list.addToSanctionsList(wallets);
        vm.expectRevert(Ownable.Unauthorized.selector);
        list.removeFromSanctionsList(wallets);
    }

    function test_TheSelectorIsThatOfTheRealOracle() external {
        assertEq(bytes32(SanctionsList.isSanctioned.selector), bytes32(bytes4(0xdf592f7d)));
        assertEq(
            SanctionsList.SanctionedAddressesAdded.selector, keccak256("SanctionedAddressesAdded(address[])")
        );
    }
}
