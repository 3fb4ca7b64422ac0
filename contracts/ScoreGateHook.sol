// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {ProviderGate} from "./ProviderGate.sol";
import {IAgentHealthOracle} from "./interfaces/IAgentHealthOracle.sol";
import {IProviderGate} from "./interfaces/IProviderGate.sol";
import {IScoreGateHook} from "./interfaces/IScoreGateHook.sol";

/// @title ScoreGateHook
contract ScoreGateHook is IScoreGateHook, ProviderGate {
    address public immutable oracle;
    uint8 public immutable minScore;
    uint256 public immutable maxAge;
    bool public immutable allowUnscored;

    constructor(
        address escrow_,
        address adapter_,
        address oracle_,
        uint8 minScore_,
        uint256 maxAge_,
        bool allowUnscored_
    ) ProviderGate(escrow_, adapter_) {
        if (oracle_ == address(0)) revert ZeroAddress();
        if (minScore_ > 100) revert ScoreAbove100(minScore_);
        if (maxAge_ == 0) revert ZeroMaxAge();
        (oracle, minScore, maxAge, allowUnscored) = (oracle_, minScore_, maxAge_, allowUnscored_);
    }

    function requireAcceptable(address provider) public view override(IProviderGate, ProviderGate) {
        (IAgentHealthOracle.Status status, IAgentHealthOracle.Record memory record) =
            IAgentHealthOracle(oracle).tryScoreOf(provider, maxAge);
        if (record.sanctioned) revert ProviderSanctioned(provider);
        if (status == IAgentHealthOracle.Status.NoRecord || record.insufficient) {
            if (allowUnscored) return;
            revert ProviderUnscored(provider);
        }
        if (status == IAgentHealthOracle.Status.Stale) revert ScoreStale(provider, record.asOfTime, maxAge);
        if (record.score < minScore) revert ProviderBelowThreshold(provider, record.score, minScore);
    }
}
