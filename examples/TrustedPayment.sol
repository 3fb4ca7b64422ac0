// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {SafeTransferLib} from "solady/utils/SafeTransferLib.sol";

import {IAgentHealthOracle} from "../contracts/interfaces/IAgentHealthOracle.sol";

/// @title Pays an agent in USDC at once, holds the money, or refuses, as its published score says
/// @notice An example to start from: what is held goes to the agent when the payer releases it, and back to the payer
/// when the payer takes it back; who decides between them is for the integrator to say.
contract TrustedPayment {
    IAgentHealthOracle public immutable oracle;
    /// @notice USDC, or another dollar of six decimals: the oracle counts in millionths of a US dollar.
    address public immutable usdc;
    /// @notice Most seconds since the inputs of a score. The service renews the records of wallets in use each day.
    uint256 public immutable maxAge;

    /// @notice Amount that a payer has set aside for an agent.
    mapping(address payer => mapping(address agent => uint256)) public held;

    /// @notice Amount paid to an agent at once on a UTC day, counted from 1970-01-01.
    mapping(address agent => mapping(uint256 day => uint256)) public paidOn;

    event Paid(address indexed payer, address indexed agent, uint256 amount);
    event Held(address indexed payer, address indexed agent, uint256 amount);
    event TakenBack(address indexed payer, address indexed agent, uint256 amount);

    error Refused(address agent, IAgentHealthOracle.Route route);
    error NothingHeld(address payer, address agent);

    constructor(IAgentHealthOracle oracle_, address usdc_, uint256 maxAge_) {
        (oracle, usdc, maxAge) = (oracle_, usdc_, maxAge_);
    }

    /// @notice Pays, holds or refuses. An amount that with the day's payments to the agent is above its safe amount is
    /// held, and so is any where the record is older than `maxAge`.
    function pay(address agent, uint256 amount) external {
        uint256 day = block.timestamp / 1 days;
        (IAgentHealthOracle.Route route,) = oracle.routeOf(agent, maxAge, paidOn[agent][day] + amount);
        if (route == IAgentHealthOracle.Route.Reject) revert Refused(agent, route);
        if (route == IAgentHealthOracle.Route.InstantSettle) {
            paidOn[agent][day] += amount;
            emit Paid(msg.sender, agent, amount);
            SafeTransferLib.safeTransferFrom(usdc, msg.sender, agent, amount);
            return;
        }
        held[msg.sender][agent] += amount;
        emit Held(msg.sender, agent, amount);
        SafeTransferLib.safeTransferFrom(usdc, msg.sender, address(this), amount);
    }

    /// @notice Hands over what is held for an agent, unless it is on a sanctions list by now.
    function release(address agent) external {
        if (oracle.scoreOf(agent).sanctioned) revert Refused(agent, IAgentHealthOracle.Route.Reject);
        uint256 amount = _take(agent);
        emit Paid(msg.sender, agent, amount);
        SafeTransferLib.safeTransfer(usdc, agent, amount);
    }

    /// @notice Gives back to the payer what is held for an agent.
    function takeBack(address agent) external {
        uint256 amount = _take(agent);
        emit TakenBack(msg.sender, agent, amount);
        SafeTransferLib.safeTransfer(usdc, msg.sender, amount);
    }

    function _take(address agent) private returns (uint256 amount) {
        amount = held[msg.sender][agent];
        if (amount == 0) revert NothingHeld(msg.sender, agent);
        held[msg.sender][agent] = 0;
    }
}
