// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

/// @notice Account with the Safe's own ABI and events for executions, for the local chain: one owner, who need not sign.
contract SafeAccount {
    enum Operation {
        Call,
        DelegateCall
    }

    event ExecutionSuccess(bytes32 indexed txHash, uint256 payment);
    event ExecutionFailure(bytes32 indexed txHash, uint256 payment);

    error NotOwner(address caller);

    address public immutable owner;
    uint256 public nonce;

    constructor(address owner_) {
        owner = owner_;
    }

    receive() external payable {}

    /// @notice Makes one call, or runs another's code as its own; owner only. An event reports a failure. The gas
    /// limit counts where it is given, refunds are not paid and signatures not looked at.
    function execTransaction(
        address to,
        uint256 value,
        bytes calldata data,
        Operation operation,
        uint256 safeTxGas,
        uint256,
        uint256,
        address,
        address payable,
        bytes calldata
    ) external payable returns (bool success) {
        if (msg.sender != owner) revert NotOwner(msg.sender);
        bytes32 txHash = keccak256(abi.encode(to, value, keccak256(data), operation, nonce++));
        uint256 limit = safeTxGas == 0 ? gasleft() : safeTxGas;
        if (operation == Operation.DelegateCall) {
            (success,) = to.delegatecall{gas: limit}(data);
        } else {
            (success,) = to.call{value: value, gas: limit}(data);
        }
        if (success) emit ExecutionSuccess(txHash, 0);
        else emit ExecutionFailure(txHash, 0);
    }
}
