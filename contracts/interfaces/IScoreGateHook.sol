// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IProviderGate} from "./IProviderGate.sol";

/// @title Hook that lets a job be funded only if its provider's Agent Health Score is good enough
/// @notice Scores are 0 to 100; a wallet with too little history counts as unscored. A job's budget is held until the
/// work is accepted, so that the safe amount, which bounds what is settled at once, does not apply.
interface IScoreGateHook is IProviderGate {
    /// @notice The provider is on a sanctions list.
    error ProviderSanctioned(address provider);

    error ScoreAbove100(uint8 score);

    function oracle() external view returns (address);
}
