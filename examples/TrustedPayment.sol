// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IAgentHealthOracle} from "../contracts/interfaces/IAgentHealthOracle.sol";

/// @title Pays an agent at once, holds the money, or refuses, as its published score says
/// @notice An example to start from: what is held goes to the agent when the payer releases it, and back to the payer
/// when the payer takes it back; who decides between them is for the integrator to say.
contract TrustedPayment {
    IAgentHealthOracle public immutable oracle;
    /// @notice Most seconds since the inputs of a score. The service renews the records of wallets in use each day.
    uint256 public immutable maxAge;

    /// @notice Wei that a payer has set aside for an agent.
    mapping(address payer => mapping(address agent => uint256)) public held;

    event Paid(address indexed payer, address indexed agent, uint256 amount);
    event Held(address indexed payer, address indexed agent, uint256 amount);
    event TakenBack(address indexed payer, address indexed agent, uint256 amount);

    error Refused(address agent, IAgentHealthOracle.Route route);
    error NothingHeld(address payer, address agent);
    error TransferFailed(address to);

    constructor(IAgentHealthOracle oracle_, uint256 maxAge_) {
        (oracle, maxAge) = (oracle_, maxAge_);
    }

    /// @notice Pays, holds or refuses. A record older than `maxAge` decides nothing: the money is held.
    function pay(address agent) external payable {
        (IAgentHealthOracle.Route route,) = oracle.routeOf(agent, maxAge);
        if (route == IAgentHealthOracle.Route.Reject) revert Refused(agent, route);
        if (route == IAgentHealthOracle.Route.InstantSettle) {
            emit Paid(msg.sender, agent, msg.value);
            _send(agent, msg.value);
            return;
        }
        held[msg.sender][agent] += msg.value;
        emit Held(msg.sender, agent, msg.value);
    }

    /// @notice Hands over what is held for an agent, unless it is on a sanctions list by now.
    function release(address agent) external {
        if (oracle.scoreOf(agent).sanctioned) revert Refused(agent, IAgentHealthOracle.Route.Reject);
        uint256 amount = _take(agent);
        emit Paid(msg.sender, agent, amount);
        _send(agent, amount);
    }

    /// @notice Gives back to the payer what is held for an agent.
    function takeBack(address agent) external {
        uint256 amount = _take(agent);
        emit TakenBack(msg.sender, agent, amount);
        _send(msg.sender, amount);
    }

    function _take(address agent) private returns (uint256 amount) {
        amount = held[msg.sender][agent];
        if (amount == 0) revert NothingHeld(msg.sender, agent);
        held[msg.sender][agent] = 0;
    }

    function _send(address to, uint256 amount) private {
        (bool sent,) = to.call{value: amount}("");
        if (!sent) revert TransferFailed(to);
    }
}
