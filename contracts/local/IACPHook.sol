// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

/// @notice ERC-8183 hook of the ERC text's own code (generation G1), called around the client's and provider's steps.
interface IACPHook {
    function supportsInterface(bytes4 interfaceId) external view returns (bool);
    function beforeAction(uint256 jobId, bytes4 selector, bytes calldata data) external;
    function afterAction(uint256 jobId, bytes4 selector, bytes calldata data) external;
}
