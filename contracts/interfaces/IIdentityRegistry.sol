// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

/// @title What other contracts ask an ERC-8004 identity registry
interface IIdentityRegistry {
    /// @notice The wallet that acts for an agent; zero while it is cleared.
    function getAgentWallet(uint256 agentId) external view returns (address);

    /// @notice Whether an account owns an agent or may act for its owner; reverts for an unknown agent.
    function isAuthorizedOrOwner(address spender, uint256 agentId) external view returns (bool);
}
