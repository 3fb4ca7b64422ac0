// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {PRBTest} from "@prb/test/PRBTest.sol";

import {ConstantProductPool} from "../../../devnet/contracts/ConstantProductPool.sol";
import {LocalToken} from "../../../devnet/contracts/LocalToken.sol";

contract ConstantProductPoolTest is PRBTest {
    address private constant TRADER = address(0x77ADE);

    LocalToken private first;
    LocalToken private second;
    ConstantProductPool private pool;

    function setUp() external {
        first = new LocalToken("First", "ONE", 6, address(this));
        second = new LocalToken("Second", "TWO", 18, address(this));
        pool = new ConstantProductPool(address(first), address(second));
        _fund(address(this), 10_000_000e6, 5_000e18);
        pool.addLiquidity(10_000_000e6, 5_000e18);
    }

    function testFuzz_TheProductNeverFallsAndTheReservesAreHeld(uint96[8] memory amounts, uint8 directions)
        external
    {
        _fund(TRADER, 1_000_000e6, 500e18);
        for (uint256 i; i < amounts.length; ++i) {
            bool sellFirst = (directions >> i) & 1 == 1;
            address tokenIn = sellFirst ? address(first) : address(second);
            uint256 most = sellFirst ? 100_000e6 : 50e18;
            uint256 amountIn = uint256(amounts[i]) % most;
            if (pool.quote(tokenIn, amountIn) == 0) continue;

            uint256 product = pool.reserve0() * pool.reserve1();
            vm.prank(TRADER);
            pool.swap(tokenIn, amountIn, 0, TRADER);
            assertGte(pool.reserve0() * pool.reserve1(), product);
        }
        assertEq(first.balanceOf(address(pool)), pool.reserve0());
        assertEq(second.balanceOf(address(pool)), pool.reserve1());
    }

    function test_ASwapPaysTheQuoteToTheReceiver() external {
        _fund(TRADER, 2_000e6, 0);
        uint256 quoted = pool.quote(address(first), 2_000e6);
        vm.prank(TRADER);
        uint256 paid = pool.swap(address(first), 2_000e6, quoted, address(0xCAFE));
        assertEq(paid, quoted);
        assertEq(second.balanceOf(address(0xCAFE)), quoted);
        // About one coin at 2,000, less the fee of 0.3 %.
        assertAlmostEq(quoted, 0.997e18, 0.001e18);
    }

    function test_ASwapBelowTheWantedAmountReverts() external {
        _fund(TRADER, 2_000e6, 0);
        uint256 quoted = pool.quote(address(first), 2_000e6);
        vm.prank(TRADER);
        vm.expectRevert(
            abi.encodeWithSelector(ConstantProductPool.TooLittleReceived.selector, quoted, quoted + 1)
        );
        pool.swap(address(first), 2_000e6, quoted + 1, TRADER);
    }

    function test_AStrangeTokenAndAnAmountOfNothingAreRefused() external {
        vm.expectRevert(abi.encodeWithSelector(ConstantProductPool.UnknownToken.selector, TRADER));
        pool.swap(TRADER, 1, 0, TRADER);
        vm.expectRevert(ConstantProductPool.ZeroAmount.selector);
        pool.swap(address(first), 0, 0, TRADER);
    }

    function testFuzz_LiquidityComesBackWithItsShareOfTheFees(uint96 amount) external {
        _fund(TRADER, 1_000_000e6, 500e18);
        uint256 amountIn = 1e6 + uint256(amount) % 500_000e6;
        vm.prank(TRADER);
        pool.swap(address(first), amountIn, 0, TRADER);

        uint256 shares = pool.sharesOf(address(this));
        (uint256 amount0, uint256 amount1) = pool.removeLiquidity(shares);
        assertGte(amount0 * amount1, 10_000_000e6 * 5_000e18);
        vm.expectRevert(abi.encodeWithSelector(ConstantProductPool.TooFewShares.selector, 0, 1));
        pool.removeLiquidity(1);
    }

    function _fund(address account, uint256 amount0, uint256 amount1) private {
        first.mint(account, amount0);
        second.mint(account, amount1);
        vm.startPrank(account);
        first.approve(address(pool), type(uint256).max);
        second.approve(address(pool), type(uint256).max);
        vm.stopPrank();
    }
}
