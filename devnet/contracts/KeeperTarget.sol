// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

/// @notice Upkeep work that anyone may do in time; every run leaves two logs.
contract KeeperTarget {
    event Performed(uint256 indexed taskId, address indexed keeper, uint256 run);
    event Checkpoint(bytes32 indexed state, uint256 timestamp);

    error TooLate(uint256 deadline);

    mapping(uint256 taskId => uint256 runs) public runsOf;
    bytes32 public state;

    /// @notice Runs the task once; reverts after `deadline` (unix seconds).
    function perform(uint256 taskId, uint256 deadline) external {
        if (block.timestamp > deadline) revert TooLate(deadline);
        uint256 run = ++runsOf[taskId];
        state = keccak256(abi.encode(state, taskId, run));
        emit Performed(taskId, msg.sender, run);
        emit Checkpoint(state, block.timestamp);
    }
}
