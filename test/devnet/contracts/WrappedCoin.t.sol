// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {PRBTest} from "@prb/test/PRBTest.sol";
import {Ownable} from "solady/auth/Ownable.sol";

import {WrappedCoin} from "../../../devnet/contracts/WrappedCoin.sol";

contract WrappedCoinTest is PRBTest {
    event Deposit(address indexed to, uint256 amount);
    event Withdrawal(address indexed from, uint256 amount);

    address private constant HOLDER = address(0xA11CE);
    address private constant SPENDER = address(0xB0B);

    WrappedCoin private weth;

    function setUp() external {
        weth = new WrappedCoin(address(this));
        vm.deal(HOLDER, 10 ether);
    }

    function testFuzz_WrappingAndUnwrappingGiveBackTheCoin(uint96 wrapped, uint96 unwrapped) external {
        vm.deal(HOLDER, wrapped);
        vm.startPrank(HOLDER);
        vm.expectEmit();
        emit Deposit(HOLDER, wrapped);
        weth.deposit{value: wrapped}();
        uint256 part = wrapped == 0 ? 0 : unwrapped % wrapped;
        vm.expectEmit();
        emit Withdrawal(HOLDER, part);
        weth.withdraw(part);
        vm.stopPrank();
        assertEq(weth.balanceOf(HOLDER), wrapped - part);
        assertEq(HOLDER.balance, part);
        assertEq(weth.totalSupply(), address(weth).balance);
    }

    function test_CoinSentToItIsWrapped() external {
        vm.prank(HOLDER);
        (bool ok,) = address(weth).call{value: 1 ether}("");
        assertTrue(ok);
        assertEq(weth.balanceOf(HOLDER), 1 ether);
    }

    function test_UnwrappingMoreThanHeldReverts() external {
        weth.mint(HOLDER, 5);
        vm.prank(HOLDER);
        vm.expectRevert(abi.encodeWithSelector(WrappedCoin.TooFewTokens.selector, HOLDER, 5, 6));
        weth.withdraw(6);
    }

    function test_ASpenderMovesNoMoreThanItIsAllowed() external {
        weth.mint(HOLDER, 100);
        vm.prank(HOLDER);
        weth.approve(SPENDER, 60);
        vm.startPrank(SPENDER);
        weth.transferFrom(HOLDER, SPENDER, 40);
        vm.expectRevert(abi.encodeWithSelector(WrappedCoin.NotAllowed.selector, SPENDER, 20, 21));
        weth.transferFrom(HOLDER, SPENDER, 21);
        vm.stopPrank();
        assertEq(weth.balanceOf(SPENDER), 40);
        assertEq(weth.balanceOf(HOLDER), 60);
    }

    function test_TheHighestAllowanceNeverRunsDown() external {
        weth.mint(HOLDER, 100);
        vm.prank(HOLDER);
        weth.approve(SPENDER, type(uint256).max);
        vm.prank(SPENDER);
        weth.transferFrom(HOLDER, SPENDER, 100);
        assertEq(weth.allowance(HOLDER, SPENDER), type(uint256).max);
    }

    function test_OnlyTheOwnerMints() external {
        vm.prank(HOLDER);
        vm.expectRevert(Ownable.Unauthorized.selector);
        weth.mint(HOLDER, 1);
    }
}
