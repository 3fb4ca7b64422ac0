// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

/// @title Any contract that scores accounts
interface IScoreSource {
    /// @notice The score of an account on the source's own scale, where higher is better.
    /// @return points The score.
    /// @return updatedAt Unix seconds of its inputs; 0 for an account without a score.
    function score(address account) external view returns (uint8 points, uint64 updatedAt);
}
