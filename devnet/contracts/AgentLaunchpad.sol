// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

/// @notice Announces tokenised agents with the event of Virtuals' AgentFactory. Token, DAO and pool are left out.
contract AgentLaunchpad {
    /// @notice An agent was launched; `tba` is the account that it acts through.
    event NewPersona(uint256 virtualId, address token, address dao, address tba, address veToken, address lp);

    /// @notice Agents so far; they are numbered from 1 on.
    uint256 public totalSupply;

    /// @notice Launches an agent that acts through the caller's account.
    function launch() external returns (uint256 virtualId) {
        virtualId = ++totalSupply;
        emit NewPersona(virtualId, address(0), address(0), msg.sender, address(0), address(0));
    }
}
