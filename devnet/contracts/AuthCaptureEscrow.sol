// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {SafeTransferLib} from "solady/utils/SafeTransferLib.sol";
import {Eip3009Collector} from "./Eip3009Collector.sol";

/// @notice Holds payments until their operator captures or voids them, with the ABI and hashes of the escrow (v1.0) that
/// x402's scheme `auth-capture` names.
/// @dev For the local chain alone, which has it at the official address; only what the service calls, without fees.
contract AuthCaptureEscrow {
    struct PaymentInfo {
        address operator;
        address payer;
        address receiver;
        address token;
        uint120 maxAmount;
        uint48 preApprovalExpiry;
        uint48 authorizationExpiry;
        uint48 refundExpiry;
        uint16 minFeeBps;
        uint16 maxFeeBps;
        address feeReceiver;
        uint256 salt;
    }

    struct PaymentState {
        bool hasCollectedPayment;
        uint120 capturableAmount;
        uint120 refundableAmount;
    }

    event PaymentAuthorized(
        bytes32 indexed paymentInfoHash, PaymentInfo paymentInfo, uint256 amount, address tokenCollector
    );
    event PaymentCaptured(
        bytes32 indexed paymentInfoHash, uint256 amount, uint16 feeBps, address feeReceiver
    );
    event PaymentVoided(bytes32 indexed paymentInfoHash, uint256 amount);
    event PaymentReclaimed(bytes32 indexed paymentInfoHash, uint256 amount);

    error InvalidSender(address sender, address expected);
    error ExceedsMaxAmount(uint256 amount, uint256 maxAmount);
    error AfterPreApprovalExpiry(uint48 timestamp, uint48 expiry);
    error InvalidExpiries(uint48 preApproval, uint48 authorization, uint48 refund);
    error PaymentAlreadyCollected(bytes32 paymentInfoHash);
    error AfterAuthorizationExpiry(uint48 timestamp, uint48 expiry);
    error BeforeAuthorizationExpiry(uint48 timestamp, uint48 expiry);
    error InsufficientAuthorization(
        bytes32 paymentInfoHash, uint256 authorizedAmount, uint256 requestedAmount
    );
    error ZeroAuthorization(bytes32 paymentInfoHash);

    bytes32 public constant PAYMENT_INFO_TYPEHASH = keccak256(
        "PaymentInfo(address operator,address payer,address receiver,address token,uint120 maxAmount,uint48 preApprovalExpiry,uint48 authorizationExpiry,uint48 refundExpiry,uint16 minFeeBps,uint16 maxFeeBps,address feeReceiver,uint256 salt)"
    );

    mapping(bytes32 paymentInfoHash => PaymentState state) public paymentState;

    modifier onlySender(address expected) {
        if (msg.sender != expected) revert InvalidSender(msg.sender, expected);
        _;
    }

    /// @notice Collects a payment that its payer signed, and holds it.
    function authorize(
        PaymentInfo calldata paymentInfo,
        uint256 amount,
        address tokenCollector,
        bytes calldata collectorData
    ) external onlySender(paymentInfo.operator) {
        if (amount > paymentInfo.maxAmount) {
            revert ExceedsMaxAmount(amount, paymentInfo.maxAmount);
        }
        uint48 now48 = uint48(block.timestamp);
        if (now48 >= paymentInfo.preApprovalExpiry) {
            revert AfterPreApprovalExpiry(now48, paymentInfo.preApprovalExpiry);
        }
        if (
            paymentInfo.preApprovalExpiry > paymentInfo.authorizationExpiry
                || paymentInfo.authorizationExpiry > paymentInfo.refundExpiry
        ) {
            revert InvalidExpiries(
                paymentInfo.preApprovalExpiry, paymentInfo.authorizationExpiry, paymentInfo.refundExpiry
            );
        }
        bytes32 hash = getHash(paymentInfo);
        if (paymentState[hash].hasCollectedPayment) revert PaymentAlreadyCollected(hash);
        paymentState[hash] = PaymentState(true, uint120(amount), 0);
        emit PaymentAuthorized(hash, paymentInfo, amount, tokenCollector);
        Eip3009Collector(tokenCollector).collectTokens(paymentInfo, address(this), amount, collectorData);
    }

    /// @notice Pays the receiver out of what is held.
    function capture(PaymentInfo calldata paymentInfo, uint256 amount, uint16 feeBps, address feeReceiver)
        external
        onlySender(paymentInfo.operator)
    {
        if (block.timestamp >= paymentInfo.authorizationExpiry) {
            revert AfterAuthorizationExpiry(uint48(block.timestamp), paymentInfo.authorizationExpiry);
        }
        bytes32 hash = getHash(paymentInfo);
        PaymentState storage state = paymentState[hash];
        if (state.capturableAmount < amount) {
            revert InsufficientAuthorization(hash, state.capturableAmount, amount);
        }
        state.capturableAmount -= uint120(amount);
        state.refundableAmount += uint120(amount);
        emit PaymentCaptured(hash, amount, feeBps, feeReceiver);
        SafeTransferLib.safeTransfer(paymentInfo.token, paymentInfo.receiver, amount);
    }

    /// @notice Returns what is held to the payer.
    function void(PaymentInfo calldata paymentInfo) external onlySender(paymentInfo.operator) {
        emit PaymentVoided(getHash(paymentInfo), _return(paymentInfo));
    }

    /// @notice Lets the payer take back what was not captured in time.
    function reclaim(PaymentInfo calldata paymentInfo) external onlySender(paymentInfo.payer) {
        if (block.timestamp < paymentInfo.authorizationExpiry) {
            revert BeforeAuthorizationExpiry(uint48(block.timestamp), paymentInfo.authorizationExpiry);
        }
        emit PaymentReclaimed(getHash(paymentInfo), _return(paymentInfo));
    }

    function getHash(PaymentInfo memory paymentInfo) public view returns (bytes32) {
        bytes32 infoHash = keccak256(abi.encode(PAYMENT_INFO_TYPEHASH, paymentInfo));
        return keccak256(abi.encode(block.chainid, address(this), infoHash));
    }

    function _return(PaymentInfo calldata paymentInfo) private returns (uint256 amount) {
        bytes32 hash = getHash(paymentInfo);
        amount = paymentState[hash].capturableAmount;
        if (amount == 0) revert ZeroAuthorization(hash);
        paymentState[hash].capturableAmount = 0;
        SafeTransferLib.safeTransfer(paymentInfo.token, paymentInfo.payer, amount);
    }
}
