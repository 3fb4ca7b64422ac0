// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

/// @title What all generations of ERC-8183 escrows have in common for an evaluator
interface IJobEscrow {
    /// @notice Accepts submitted work; only the job's evaluator.
    function complete(uint256 jobId, bytes32 reason, bytes calldata optParams) external;

    /// @notice Turns a job down; only the job's evaluator once it is funded.
    function reject(uint256 jobId, bytes32 reason, bytes calldata optParams) external;
}
