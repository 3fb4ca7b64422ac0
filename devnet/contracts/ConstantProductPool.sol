// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {FixedPointMathLib} from "solady/utils/FixedPointMathLib.sol";
import {SafeTransferLib} from "solady/utils/SafeTransferLib.sol";

/// @notice Two-token exchange that keeps reserve0 · reserve1 from falling, with a fee of 0.3 % left in the pool.
contract ConstantProductPool {
    using SafeTransferLib for address;

    event LiquidityAdded(address indexed provider, uint256 amount0, uint256 amount1, uint256 shares);
    event LiquidityRemoved(address indexed provider, uint256 amount0, uint256 amount1, uint256 shares);
    event Swapped(
        address indexed trader,
        address indexed tokenIn,
        uint256 amountIn,
        uint256 amountOut,
        address indexed to
    );

    error UnknownToken(address token);
    error ZeroAmount();
    error TooLittleReceived(uint256 amountOut, uint256 minAmountOut);
    error TooFewShares(uint256 held, uint256 wanted);

    /// @notice Swap fee in hundredths of a per cent.
    uint256 public constant FEE_BP = 30;

    address public immutable token0;
    address public immutable token1;
    uint256 public reserve0;
    uint256 public reserve1;
    uint256 public totalShares;
    mapping(address provider => uint256 shares) public sharesOf;

    constructor(address token0_, address token1_) {
        token0 = token0_;
        token1 = token1_;
    }

    /// @notice Takes both tokens from the caller and credits shares in proportion to the smaller of the two.
    function addLiquidity(uint256 amount0, uint256 amount1) external returns (uint256 shares) {
        shares = totalShares == 0
            ? FixedPointMathLib.sqrt(amount0 * amount1)
            : FixedPointMathLib.min(amount0 * totalShares / reserve0, amount1 * totalShares / reserve1);
        if (shares == 0) revert ZeroAmount();

        reserve0 += amount0;
        reserve1 += amount1;
        totalShares += shares;
        sharesOf[msg.sender] += shares;
        emit LiquidityAdded(msg.sender, amount0, amount1, shares);

        token0.safeTransferFrom(msg.sender, address(this), amount0);
        token1.safeTransferFrom(msg.sender, address(this), amount1);
    }

    /// @notice Burns the caller's shares for their part of both reserves.
    function removeLiquidity(uint256 shares) external returns (uint256 amount0, uint256 amount1) {
        uint256 held = sharesOf[msg.sender];
        if (shares == 0) revert ZeroAmount();
        if (held < shares) revert TooFewShares(held, shares);

        amount0 = reserve0 * shares / totalShares;
        amount1 = reserve1 * shares / totalShares;
        sharesOf[msg.sender] = held - shares;
        totalShares -= shares;
        reserve0 -= amount0;
        reserve1 -= amount1;
        emit LiquidityRemoved(msg.sender, amount0, amount1, shares);

        token0.safeTransfer(msg.sender, amount0);
        token1.safeTransfer(msg.sender, amount1);
    }

    /// @notice Sells `amountIn` of `tokenIn` for the other token; reverts below `minAmountOut`.
    function swap(address tokenIn, uint256 amountIn, uint256 minAmountOut, address to)
        external
        returns (uint256 amountOut)
    {
        amountOut = quote(tokenIn, amountIn);
        if (amountOut == 0) revert ZeroAmount();
        if (amountOut < minAmountOut) revert TooLittleReceived(amountOut, minAmountOut);

        bool zeroForOne = tokenIn == token0;
        if (zeroForOne) {
            reserve0 += amountIn;
            reserve1 -= amountOut;
        } else {
            reserve1 += amountIn;
            reserve0 -= amountOut;
        }
        emit Swapped(msg.sender, tokenIn, amountIn, amountOut, to);

        tokenIn.safeTransferFrom(msg.sender, address(this), amountIn);
        (zeroForOne ? token1 : token0).safeTransfer(to, amountOut);
    }

    /// @notice What a swap of `amountIn` of `tokenIn` would pay now, after the fee.
    function quote(address tokenIn, uint256 amountIn) public view returns (uint256 amountOut) {
        if (tokenIn != token0 && tokenIn != token1) revert UnknownToken(tokenIn);
        (uint256 reserveIn, uint256 reserveOut) =
            tokenIn == token0 ? (reserve0, reserve1) : (reserve1, reserve0);
        uint256 afterFee = amountIn * (10_000 - FEE_BP);
        return afterFee * reserveOut / (reserveIn * 10_000 + afterFee);
    }
}
