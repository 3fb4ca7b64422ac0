// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {PRBTest} from "@prb/test/PRBTest.sol";

import {Mixer} from "../../../devnet/contracts/Mixer.sol";

contract MixerTest is PRBTest {
    address private constant PAYEE = address(0xB0B);
    bytes32 private constant SECRET = "secret";

    Mixer private mixer;
    bytes32 private commitment = keccak256(abi.encode(SECRET));

    function setUp() external {
        mixer = new Mixer();
    }

    function testFuzz_ADepositIsPaidOnceToWhoeverShowsItsSecret(uint96 amount) external {
        vm.assume(amount > 0);
        vm.deal(address(this), amount);
        mixer.deposit{value: amount}(commitment);
        mixer.withdraw(SECRET, PAYEE);
        assertEq(PAYEE.balance, amount);
        vm.expectRevert(Mixer.UnknownSecret.selector);
        mixer.withdraw(SECRET, PAYEE);
    }

    function test_ADepositOfNothingAndASecondOneUnderTheSameCommitmentAreRefused() external {
        vm.expectRevert(Mixer.NothingPaid.selector);
        mixer.deposit(commitment);
        mixer.deposit{value: 1}(commitment);
        vm.expectRevert(abi.encodeWithSelector(Mixer.CommitmentTaken.selector, commitment));
        mixer.deposit{value: 1}(commitment);
    }
}
