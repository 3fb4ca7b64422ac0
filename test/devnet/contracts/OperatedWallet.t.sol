// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {PRBTest} from "@prb/test/PRBTest.sol";

import {KeeperTarget} from "../../../devnet/contracts/KeeperTarget.sol";
import {OperatedWallet} from "../../../devnet/contracts/OperatedWallet.sol";
import {SmartWallet} from "../../../devnet/contracts/SmartWallet.sol";

contract OperatedWalletTest is PRBTest {
    address private constant OWNER = address(0xA11CE);
    address private constant ENTRY_POINT = address(0xE7);
    address private constant OTHER = address(0xB0B);

    KeeperTarget private target;
    OperatedWallet private wallet;
    bytes private work;

    function setUp() external {
        target = new KeeperTarget();
        wallet = new OperatedWallet(OWNER, ENTRY_POINT);
        work = abi.encodeCall(KeeperTarget.perform, (1, block.timestamp));
    }

    function test_ItActsForItsOwnerAndForTheEntryPoint() external {
        vm.prank(OWNER);
        wallet.execute(address(target), 0, work);
        vm.prank(ENTRY_POINT);
        wallet.execute(address(target), 0, work);
        assertEq(target.runsOf(1), 2);
    }

    function test_ItActsForNobodyElse() external {
        vm.prank(OTHER);
        vm.expectRevert(abi.encodeWithSelector(SmartWallet.NotOwner.selector, OTHER));
        wallet.execute(address(target), 0, work);
    }
}
