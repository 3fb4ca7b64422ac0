// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {SafeTransferLib} from "solady/utils/SafeTransferLib.sol";
import {AuthCaptureEscrow} from "./AuthCaptureEscrow.sol";
import {UsdCoin} from "./UsdCoin.sol";

/// @notice Brings tokens into the escrow of scheme `auth-capture` by an EIP-3009 authorization whose nonce commits to the payment.
/// @dev For the local chain alone, which has it at the official address.
contract Eip3009Collector {
    AuthCaptureEscrow private constant ESCROW = AuthCaptureEscrow(0xBdEA0D1bcC5966192B070Fdf62aB4EF5b4420cff);

    error OnlyAuthCaptureEscrow();

    function collectTokens(
        AuthCaptureEscrow.PaymentInfo memory paymentInfo,
        address tokenStore,
        uint256 amount,
        bytes calldata signature
    ) external {
        if (msg.sender != address(ESCROW)) revert OnlyAuthCaptureEscrow();
        address payer = paymentInfo.payer;
        paymentInfo.payer = address(0);
        UsdCoin(paymentInfo.token)
            .receiveWithAuthorization(
                payer,
                address(this),
                paymentInfo.maxAmount,
                0,
                paymentInfo.preApprovalExpiry,
                ESCROW.getHash(paymentInfo),
                signature
            );
        if (paymentInfo.maxAmount > amount) {
            SafeTransferLib.safeTransfer(paymentInfo.token, payer, paymentInfo.maxAmount - amount);
        }
        SafeTransferLib.safeTransfer(paymentInfo.token, tokenStore, amount);
    }
}
