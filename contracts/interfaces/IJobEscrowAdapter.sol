// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

/// @title Reads the jobs of one ABI generation of ERC-8183 escrows
/// @notice `getJob` has one selector and a tuple of its own in every generation: an adapter is the decoder of one.
interface IJobEscrowAdapter {
    /// @notice States of ERC-8183, in its order.
    enum JobStatus {
        Open,
        Funded,
        Submitted,
        Completed,
        Rejected,
        Expired
    }

    /// @notice What every generation knows of a job.
    /// @param provider Zero while none is named.
    /// @param expiredAt Unix seconds from which the budget can be claimed back.
    /// @param budget In the payment token's smallest unit.
    struct Job {
        address client;
        address provider;
        address evaluator;
        address hook;
        JobStatus status;
        uint256 expiredAt;
        uint256 budget;
    }

    /// @notice No job has this id.
    error UnknownJob(address escrow, uint256 jobId);

    /// @notice The escrow answered a status that ERC-8183 does not have.
    error UnknownStatus(address escrow, uint256 jobId, uint8 status);

    /// @notice The escrow's answer is not of the adapter's generation.
    error OtherGeneration(address escrow, uint256 jobId);

    /// @notice A job as its escrow reports it; reverts for an id never given and for an answer of another generation.
    function readJob(address escrow, uint256 jobId) external view returns (Job memory job);

    /// @notice The selectors that its escrows hand to a hook when a job is funded and when its provider is named; the
    /// latter is zero where that calls no hook.
    function gateSelectors() external pure returns (bytes4 fund, bytes4 setProvider);
}
