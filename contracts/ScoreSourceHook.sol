// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {ProviderGate} from "./ProviderGate.sol";
import {IProviderGate} from "./interfaces/IProviderGate.sol";
import {IScoreSource} from "./interfaces/IScoreSource.sol";

/// @title ScoreSourceHook
/// @notice Gates jobs by the score of any source, from any vendor. A source that fails lets no job be funded. The lowest
/// score that is let through is at least 1: a source can have no other score than 0 for a sanctioned wallet.
contract ScoreSourceHook is ProviderGate {
    IScoreSource public immutable source;
    uint8 public immutable minScore;
    uint256 public immutable maxAge;
    bool public immutable allowUnscored;

    /// @notice A minimum of 0 lets every scored provider pass, sanctioned ones of AgentHealthScoreSource among them.
    error ZeroMinScore();

    constructor(
        address escrow_,
        address adapter_,
        IScoreSource source_,
        uint8 minScore_,
        uint256 maxAge_,
        bool allowUnscored_
    ) ProviderGate(escrow_, adapter_) {
        if (address(source_) == address(0)) revert ZeroAddress();
        if (minScore_ == 0) revert ZeroMinScore();
        if (maxAge_ == 0) revert ZeroMaxAge();
        (source, minScore, maxAge, allowUnscored) = (source_, minScore_, maxAge_, allowUnscored_);
    }

    function requireAcceptable(address provider) public view override {
        (uint8 points, uint64 updatedAt) = source.score(provider);
        if (updatedAt == 0) {
            if (allowUnscored) return;
            revert ProviderUnscored(provider);
        }
        // A score of the future has no age.
        uint256 age = block.timestamp > updatedAt ? block.timestamp - updatedAt : 0;
        if (age > maxAge) revert ScoreStale(provider, updatedAt, maxAge);
        if (points < minScore) revert ProviderBelowThreshold(provider, points, minScore);
    }
}
