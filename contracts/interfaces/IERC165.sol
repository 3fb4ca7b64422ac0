// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

/// @title Standard interface detection
interface IERC165 {
    /// @notice Whether the contract implements an interface, named by the XOR of its selectors.
    function supportsInterface(bytes4 interfaceId) external view returns (bool);
}
