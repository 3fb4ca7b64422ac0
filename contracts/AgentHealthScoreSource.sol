// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IAgentHealthOracle} from "./interfaces/IAgentHealthOracle.sol";
import {IScoreSource} from "./interfaces/IScoreSource.sol";

/// @title AgentHealthScoreSource
/// @notice The scores of an Agent Health oracle, 0 to 100, for contracts that read any vendor's. A sanctioned wallet
/// has the score 0; one without a record, or with too little history, has none.
contract AgentHealthScoreSource is IScoreSource {
    IAgentHealthOracle public immutable oracle;

    error ZeroAddress();

    constructor(IAgentHealthOracle oracle_) {
        if (address(oracle_) == address(0)) revert ZeroAddress();
        oracle = oracle_;
    }

    function score(address account) external view returns (uint8, uint64) {
        (IAgentHealthOracle.Status status, IAgentHealthOracle.Record memory record) =
            oracle.tryScoreOf(account, type(uint256).max);
        return
            status == IAgentHealthOracle.Status.Scored
                ? (record.score, record.asOfTime)
                : (uint8(0), uint64(0));
    }
}
