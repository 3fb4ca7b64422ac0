// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

/// @notice Owner of agents that calls their registry back while each is minted, and takes any signature for its own.
contract MintCallback {
    error CallFailed(uint256 position);

    bytes[] private _duringMint;

    /// @notice Calls a registry with `registration`; each of `duringMint` is sent to it from within the mint.
    function register(address registry, bytes calldata registration, bytes[] calldata duringMint) external {
        delete _duringMint;
        for (uint256 i; i < duringMint.length; ++i) {
            _duringMint.push(duringMint[i]);
        }
        _call(registry, registration, type(uint256).max);
    }

    function onERC721Received(address, address, uint256, bytes calldata) external returns (bytes4) {
        for (uint256 i; i < _duringMint.length; ++i) {
            _call(msg.sender, _duringMint[i], i);
        }
        return this.onERC721Received.selector;
    }

    function isValidSignature(bytes32, bytes calldata) external pure returns (bytes4) {
        return this.isValidSignature.selector;
    }

    receive() external payable {}

    function _call(address target, bytes memory data, uint256 position) private {
        (bool ok,) = target.call(data);
        if (!ok) revert CallFailed(position);
    }
}
