// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IACPHook} from "./IACPHook.sol";

/// @title Hook that lets a job be funded only if its provider is acceptable
/// @notice It gates what happens while a job is open: funding, and naming a provider where that calls a hook. Once
/// money lies in escrow it forbids nothing: neither submitting nor completing, rejecting or refunding.
interface IProviderGate is IACPHook {
    /// @notice The caller is neither the escrow nor the hook that the job names.
    error NotEscrowOrRouter(address caller, uint256 jobId);

    error ZeroAddress();
    error ZeroMaxAge();

    /// @notice The provider has no score, and this hook was made to ask for one.
    error ProviderUnscored(address provider);

    /// @notice The provider's score is of `asOfTime`, and older than this hook accepts.
    error ScoreStale(address provider, uint64 asOfTime, uint256 maxAge);

    error ProviderBelowThreshold(address provider, uint8 score, uint8 minScore);

    /// @notice Whether a job with this provider may be funded now; reverts with the reason if not.
    function requireAcceptable(address provider) external view;

    /// @notice The selectors that a router has to hand on to this hook.
    function requiredSelectors() external view returns (bytes4[] memory);

    /// @notice The escrow whose jobs are gated.
    function escrow() external view returns (address);

    /// @notice Reads the escrow's jobs.
    function adapter() external view returns (address);

    /// @notice Lowest score that is let through.
    function minScore() external view returns (uint8);

    /// @notice Maximum seconds since the time of a score.
    function maxAge() external view returns (uint256);

    /// @notice Whether a wallet without a score is let through.
    function allowUnscored() external view returns (bool);
}
