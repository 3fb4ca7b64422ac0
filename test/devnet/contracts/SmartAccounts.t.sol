// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {PRBTest} from "@prb/test/PRBTest.sol";

import {EntryPoint} from "../../../devnet/contracts/EntryPoint.sol";
import {SafeAccount} from "../../../devnet/contracts/SafeAccount.sol";
import {SmartWallet} from "../../../devnet/contracts/SmartWallet.sol";
import {UsdCoin} from "../../../devnet/contracts/UsdCoin.sol";

contract SmartAccountsTest is PRBTest {
    event UserOperationEvent(
        bytes32 indexed userOpHash,
        address indexed sender,
        address indexed paymaster,
        uint256 nonce,
        bool success,
        uint256 actualGasCost,
        uint256 actualGasUsed
    );
    event ExecutionSuccess(bytes32 indexed txHash, uint256 payment);
    event ExecutionFailure(bytes32 indexed txHash, uint256 payment);

    address private constant PAYEE = address(0xB2);
    uint256 private constant VERIFICATION_GAS = 50_000;

    EntryPoint private entryPoint;
    SmartWallet private wallet;
    SafeAccount private safe;
    UsdCoin private usdc;

    function setUp() external {
        entryPoint = new EntryPoint();
        wallet = new SmartWallet(address(entryPoint));
        safe = new SafeAccount(address(this));
        usdc = new UsdCoin(address(this));
        usdc.mint(address(wallet), 100e6);
        usdc.mint(address(safe), 100e6);
    }

    function test_EntryPoint_RunsOperationsInOrder() external {
        EntryPoint.PackedUserOperation[] memory ops = new EntryPoint.PackedUserOperation[](2);
        ops[0] = _payment(0, 30e6, 200_000);
        ops[1] = _payment(1, 20e6, 200_000);
        entryPoint.handleOps(ops, payable(address(this)));
        assertEq(usdc.balanceOf(PAYEE), 50e6);
        assertEq(entryPoint.nonceOf(address(wallet)), 2);
    }

    function test_EntryPoint_OneThatFails_IsTold_AndTheOthersRun() external {
        EntryPoint.PackedUserOperation[] memory ops = new EntryPoint.PackedUserOperation[](2);
        ops[0] = _payment(0, 1_000e6, 200_000);
        ops[1] = _payment(1, 20e6, 200_000);
        vm.expectEmit(true, true, true, false);
        emit UserOperationEvent(entryPoint.getUserOpHash(ops[0]), address(wallet), address(0), 0, false, 0, 0);
        entryPoint.handleOps(ops, payable(address(this)));
        assertEq(usdc.balanceOf(PAYEE), 20e6);
    }

    function test_EntryPoint_GasLimitOfTheCallCounts() external {
        EntryPoint.PackedUserOperation[] memory ops = new EntryPoint.PackedUserOperation[](1);
        ops[0] = _payment(0, 20e6, 10_000);
        entryPoint.handleOps(ops, payable(address(this)));
        assertEq(usdc.balanceOf(PAYEE), 0);
    }

    function test_EntryPoint_RevertWhen_NonceIsNotTheNext() external {
        EntryPoint.PackedUserOperation[] memory ops = new EntryPoint.PackedUserOperation[](1);
        ops[0] = _payment(1, 20e6, 200_000);
        vm.expectRevert(abi.encodeWithSelector(EntryPoint.FailedOp.selector, 0, "AA25 invalid account nonce"));
        entryPoint.handleOps(ops, payable(address(this)));
    }

    function test_Safe_Executes() external {
        bytes memory data = abi.encodeCall(usdc.transfer, (PAYEE, 30e6));
        vm.expectEmit(false, false, false, true, address(safe));
        emit ExecutionSuccess(bytes32(0), 0);
        assertTrue(_execute(address(usdc), data));
        assertEq(usdc.balanceOf(PAYEE), 30e6);
        assertEq(safe.nonce(), 1);
    }

    function test_Safe_WhatFailsIsTold() external {
        bytes memory data = abi.encodeCall(usdc.transfer, (PAYEE, 1_000e6));
        vm.expectEmit(false, false, false, true, address(safe));
        emit ExecutionFailure(bytes32(0), 0);
        assertFalse(_execute(address(usdc), data));
    }

    function test_Safe_RevertWhen_CallerIsNotTheOwner() external {
        vm.prank(PAYEE);
        vm.expectRevert(abi.encodeWithSelector(SafeAccount.NotOwner.selector, PAYEE));
        _execute(address(usdc), "");
    }

    function _execute(address to, bytes memory data) private returns (bool) {
        return safe.execTransaction(
            to, 0, data, SafeAccount.Operation.Call, 0, 0, 0, address(0), payable(address(0)), ""
        );
    }

    function _payment(uint256 nonce, uint256 amount, uint256 callGas)
        private
        view
        returns (EntryPoint.PackedUserOperation memory)
    {
        bytes memory payment = abi.encodeCall(usdc.transfer, (PAYEE, amount));
        return EntryPoint.PackedUserOperation({
            sender: address(wallet),
            nonce: nonce,
            initCode: "",
            callData: abi.encodeCall(wallet.execute, (address(usdc), 0, payment)),
            accountGasLimits: bytes32((VERIFICATION_GAS << 128) | callGas),
            preVerificationGas: 21_000,
            gasFees: bytes32(0),
            paymasterAndData: "",
            signature: ""
        });
    }
}
