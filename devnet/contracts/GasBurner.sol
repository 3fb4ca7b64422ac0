// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

/// @notice Target whose cost grows with its argument, so that a caller with too low a gas limit runs out.
contract GasBurner {
    event Burned(address indexed caller, uint256 rounds, bytes32 digest);

    bytes32 public digest;

    /// @notice Hashes `rounds` times, about 110 gas each, and stores the result.
    function burn(uint256 rounds) external {
        bytes32 current = digest;
        for (uint256 i; i < rounds; ++i) {
            current = keccak256(abi.encode(current, i));
        }
        digest = current;
        emit Burned(msg.sender, rounds, current);
    }
}
