// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {Ownable} from "solady/auth/Ownable.sol";
import {SafeTransferLib} from "solady/utils/SafeTransferLib.sol";

/// @notice The native coin as an ERC-20 token, in the shape of WETH9: wrapping and unwrapping leave no Transfer.
/// @dev Tokens that the owner mints have no coin behind them: the minter sees to it that enough coin lies here.
contract WrappedCoin is Ownable {
    using SafeTransferLib for address;

    event Approval(address indexed owner, address indexed spender, uint256 amount);
    event Transfer(address indexed from, address indexed to, uint256 amount);
    event Deposit(address indexed to, uint256 amount);
    event Withdrawal(address indexed from, uint256 amount);

    error TooFewTokens(address holder, uint256 held, uint256 wanted);
    error NotAllowed(address spender, uint256 allowed, uint256 wanted);

    string public constant name = "Wrapped Ether";
    string public constant symbol = "WETH";
    uint8 public constant decimals = 18;

    /// @notice Wrapped and minted tokens together.
    uint256 public totalSupply;
    mapping(address holder => uint256 amount) public balanceOf;
    mapping(address holder => mapping(address spender => uint256 amount)) public allowance;

    constructor(address owner_) {
        _initializeOwner(owner_);
    }

    receive() external payable {
        deposit();
    }

    /// @notice Wraps the coin that comes with the call.
    function deposit() public payable {
        totalSupply += msg.value;
        balanceOf[msg.sender] += msg.value;
        emit Deposit(msg.sender, msg.value);
    }

    /// @notice Unwraps `amount` into coin for the caller.
    function withdraw(uint256 amount) external {
        _take(msg.sender, amount);
        totalSupply -= amount;
        emit Withdrawal(msg.sender, amount);
        msg.sender.safeTransferETH(amount);
    }

    /// @notice Creates tokens; owner only.
    function mint(address to, uint256 amount) external onlyOwner {
        totalSupply += amount;
        balanceOf[to] += amount;
        emit Transfer(address(0), to, amount);
    }

    function approve(address spender, uint256 amount) external returns (bool) {
        allowance[msg.sender][spender] = amount;
        emit Approval(msg.sender, spender, amount);
        return true;
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        _move(msg.sender, to, amount);
        return true;
    }

    /// @notice Moves tokens that the caller is allowed; the highest allowance never runs down.
    function transferFrom(address from, address to, uint256 amount) external returns (bool) {
        uint256 allowed = allowance[from][msg.sender];
        if (from != msg.sender && allowed != type(uint256).max) {
            if (allowed < amount) revert NotAllowed(msg.sender, allowed, amount);
            allowance[from][msg.sender] = allowed - amount;
        }
        _move(from, to, amount);
        return true;
    }

    function _move(address from, address to, uint256 amount) private {
        _take(from, amount);
        balanceOf[to] += amount;
        emit Transfer(from, to, amount);
    }

    function _take(address from, uint256 amount) private {
        uint256 held = balanceOf[from];
        if (held < amount) revert TooFewTokens(from, held, amount);
        balanceOf[from] = held - amount;
    }
}
