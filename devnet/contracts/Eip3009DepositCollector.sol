// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {SafeTransferLib} from "solady/utils/SafeTransferLib.sol";
import {UsdCoin} from "./UsdCoin.sol";

/// @notice Brings tokens into a channel of scheme `batch-settlement` by an EIP-3009 authorization whose nonce names the channel.
/// @dev For the local chain alone, which has it at the official address.
contract Eip3009DepositCollector {
    address private constant CHANNELS = 0x4020074e9dF2ce1deE5A9C1b5c3f541D02a10003;

    error OnlyBatchSettlement();

    function collect(
        address payer,
        address token,
        uint256 amount,
        bytes32 channelId,
        bytes calldata collectorData
    ) external {
        if (msg.sender != CHANNELS) revert OnlyBatchSettlement();
        (uint256 validAfter, uint256 validBefore, uint256 salt, bytes memory signature) =
            abi.decode(collectorData, (uint256, uint256, uint256, bytes));
        bytes32 nonce = keccak256(abi.encode(channelId, salt));
        UsdCoin(token)
            .receiveWithAuthorization(payer, address(this), amount, validAfter, validBefore, nonce, signature);
        SafeTransferLib.safeTransfer(token, CHANNELS, amount);
    }
}
