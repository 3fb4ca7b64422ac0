// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

/// @notice Does to readers of the chain what any contract can: claims approvals and transfers of others by the thousand, and is
/// an agent's account that accepts every call.
contract HostileContract {
    event Approval(address indexed owner, address indexed spender, uint256 value);
    event Transfer(address indexed from, address indexed to, uint256 value);

    /// @notice Logs, for each of `count` accounts from `first` on, an approval of the account by the victim and a transfer from
    /// it to the victim.
    function forge(address victim, uint160 first, uint256 count) external {
        for (uint160 i; i < count; ++i) {
            address account = address(first + i);
            emit Approval(victim, account, type(uint256).max);
            emit Transfer(account, victim, 1);
        }
    }

    /// @notice Registers this contract as an agent.
    function register(address registry) external {
        (bool ok,) = registry.call(abi.encodeWithSignature("register()"));
        require(ok);
    }

    function onERC721Received(address, address, uint256, bytes calldata) external pure returns (bytes4) {
        return this.onERC721Received.selector;
    }

    receive() external payable {}

    /// @dev Accepts every call and does nothing.
    fallback() external payable {}
}
