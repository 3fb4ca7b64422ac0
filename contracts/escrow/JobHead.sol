// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

/// @title Reads what an escrow answers of a job, short of its description
library JobHead {
    /// @dev Of `getJob(uint256)`, in every generation.
    bytes4 private constant GET_JOB = 0xbf22c457;

    /// @dev The first words of the answer: a description may be as long as a transaction takes, and is not copied here.
    /// Shorter where the answer is; the escrow's own failure comes through.
    function read(address escrow, uint256 jobId, uint256 words) internal view returns (bytes memory head) {
        bytes memory query = abi.encodeWithSelector(GET_JOB, jobId);
        uint256 length = words * 32;
        assembly ("memory-safe") {
            head := mload(0x40)
            if iszero(staticcall(gas(), escrow, add(query, 32), mload(query), add(head, 32), length)) {
                returndatacopy(head, 0, returndatasize())
                revert(head, returndatasize())
            }
            if lt(returndatasize(), length) { length := returndatasize() }
            mstore(head, length)
            mstore(0x40, and(add(add(head, 63), length), not(31)))
        }
    }
}
