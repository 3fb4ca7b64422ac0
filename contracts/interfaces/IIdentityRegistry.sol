// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

/// @title What the oracle asks an ERC-8004 identity registry
interface IIdentityRegistry {
    /// @notice The wallet that acts for an agent; zero while it is cleared.
    function getAgentWallet(uint256 agentId) external view returns (address);
}
