// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

/// @notice ERC-4337 entry point with the standard's ABI of version 0.7, for the local chain. It runs bundles as the standard
/// says, with the gas limits of each operation; it holds no deposits and asks accounts for no signature of its own.
contract EntryPoint {
    struct PackedUserOperation {
        address sender;
        uint256 nonce;
        bytes initCode;
        bytes callData;
        bytes32 accountGasLimits;
        uint256 preVerificationGas;
        bytes32 gasFees;
        bytes paymasterAndData;
        bytes signature;
    }

    event UserOperationEvent(
        bytes32 indexed userOpHash,
        address indexed sender,
        address indexed paymaster,
        uint256 nonce,
        bool success,
        uint256 actualGasCost,
        uint256 actualGasUsed
    );
    event UserOperationRevertReason(
        bytes32 indexed userOpHash, address indexed sender, uint256 nonce, bytes revertReason
    );
    event BeforeExecution();

    error FailedOp(uint256 opIndex, string reason);

    uint256 private constant PAYMASTER_BYTES = 20;

    mapping(address sender => uint256 nonce) public nonceOf;

    /// @notice Runs operations in order; an event reports a failed one, which takes nothing from the others. Reverts
    /// with FailedOp when a nonce is not the sender's next one.
    function handleOps(PackedUserOperation[] calldata ops, address payable) external {
        for (uint256 i; i < ops.length; ++i) {
            if (ops[i].nonce != nonceOf[ops[i].sender]++) revert FailedOp(i, "AA25 invalid account nonce");
        }
        emit BeforeExecution();
        for (uint256 i; i < ops.length; ++i) {
            _run(ops[i]);
        }
    }

    /// @notice What identifies an operation: all of it but the signature, on this chain and entry point.
    function getUserOpHash(PackedUserOperation calldata op) public view returns (bytes32) {
        bytes32 operation = keccak256(
            abi.encode(
                op.sender,
                op.nonce,
                keccak256(op.initCode),
                keccak256(op.callData),
                op.accountGasLimits,
                op.preVerificationGas,
                op.gasFees,
                keccak256(op.paymasterAndData)
            )
        );
        return keccak256(abi.encode(operation, address(this), block.chainid));
    }

    function _run(PackedUserOperation calldata op) private {
        bytes32 opHash = getUserOpHash(op);
        uint256 before = gasleft();
        uint256 limit = uint128(uint256(op.accountGasLimits));
        (bool ok, bytes memory reason) = op.sender.call{gas: limit}(op.callData);
        if (!ok) emit UserOperationRevertReason(opHash, op.sender, op.nonce, reason);
        uint256 used = before - gasleft() + op.preVerificationGas;
        address paymaster = op.paymasterAndData.length < PAYMASTER_BYTES
            ? address(0)
            : address(bytes20(op.paymasterAndData[:PAYMASTER_BYTES]));
        emit UserOperationEvent(opHash, op.sender, paymaster, op.nonce, ok, used * tx.gasprice, used);
    }
}
