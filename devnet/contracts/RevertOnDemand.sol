// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

/// @notice Target whose caller chooses how the call ends.
contract RevertOnDemand {
    enum Mode {
        Succeed,
        Reason,
        TypedError,
        Silent,
        Panic
    }

    event Ran(address indexed caller, uint256 run);

    error Refused(address caller, Mode mode);

    uint256 public runs;

    /// @notice Ends as `mode` says; `reason` is the text of `Mode.Reason`.
    function run(Mode mode, string calldata reason) external {
        if (mode == Mode.Reason) revert(reason);
        if (mode == Mode.TypedError) revert Refused(msg.sender, mode);
        if (mode == Mode.Silent) {
            assembly {
                revert(0, 0)
            }
        }
        if (mode == Mode.Panic) assert(false);
        emit Ran(msg.sender, ++runs);
    }
}
