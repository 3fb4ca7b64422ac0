// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IERC165} from "./IERC165.sol";

/// @title Hook of an ERC-8183 escrow, called around the steps of a job
/// @notice Alike in all generations; what `data` holds differs between them.
interface IACPHook is IERC165 {
    /// @notice Called before a step; a revert forbids it.
    function beforeAction(uint256 jobId, bytes4 selector, bytes calldata data) external;

    /// @notice Called after a step; a revert undoes it.
    function afterAction(uint256 jobId, bytes4 selector, bytes calldata data) external;
}
