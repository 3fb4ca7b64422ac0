// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

/// @notice Target that is broken or whole for each caller apart: it breaks and is repaired on demand.
contract RepairableTarget {
    event Worked(address indexed caller, uint256 run);
    event Broke(address indexed caller, uint256 until);
    event Repaired(address indexed caller);

    error Broken(address caller, uint256 until);

    mapping(address caller => uint256 until) public brokenUntil;
    mapping(address caller => uint256 runs) public runsOf;

    /// @notice Works unless it is broken for the caller.
    function work() external {
        uint256 until = brokenUntil[msg.sender];
        if (block.timestamp < until) revert Broken(msg.sender, until);
        emit Worked(msg.sender, ++runsOf[msg.sender]);
    }

    /// @notice Breaks it for `account` until `until` (unix seconds), when it repairs itself.
    function breakDown(address account, uint256 until) external {
        brokenUntil[account] = until;
        emit Broke(account, until);
    }

    /// @notice Repairs it for the caller at once.
    function repair() external {
        delete brokenUntil[msg.sender];
        emit Repaired(msg.sender);
    }
}
