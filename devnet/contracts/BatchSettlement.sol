// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {ECDSA} from "solady/utils/ECDSA.sol";
import {SafeTransferLib} from "solady/utils/SafeTransferLib.sol";
import {Eip3009DepositCollector} from "./Eip3009DepositCollector.sol";

/// @notice Payment channels with the ABI and the EIP-712 types of the contract that x402's scheme `batch-settlement` names.
/// @dev For the local chain alone, which has it at the official address; without refunds and signed claims.
contract BatchSettlement {
    struct ChannelConfig {
        address payer;
        address payerAuthorizer;
        address receiver;
        address receiverAuthorizer;
        address token;
        uint40 withdrawDelay;
        bytes32 salt;
    }

    struct Voucher {
        ChannelConfig channel;
        uint128 maxClaimableAmount;
    }

    struct VoucherClaim {
        Voucher voucher;
        bytes signature;
        uint128 totalClaimed;
    }

    struct Channel {
        uint128 balance;
        uint128 totalClaimed;
    }

    struct Withdrawal {
        uint128 amount;
        uint40 initiatedAt;
    }

    struct Receiver {
        uint128 totalClaimed;
        uint128 totalSettled;
    }

    event Deposited(bytes32 indexed channelId, address indexed sender, uint128 amount, uint128 newBalance);
    event Claimed(
        bytes32 indexed channelId, address indexed sender, uint128 claimAmount, uint128 newTotalClaimed
    );
    event Settled(address indexed receiver, address indexed token, address indexed sender, uint128 amount);
    event WithdrawInitiated(bytes32 indexed channelId, uint128 amount, uint40 finalizeAfter);
    event WithdrawFinalized(bytes32 indexed channelId, address indexed sender, uint128 amount);

    error ClaimExceedsBalance();
    error ClaimExceedsCeiling();
    error InvalidChannel();
    error InvalidSignature();
    error NotAuthorizedToClaim();
    error WithdrawAmountExceedsAvailable();
    error WithdrawDelayNotElapsed();
    error WithdrawDelayOutOfRange();
    error WithdrawalAlreadyPending();
    error WithdrawalNotPending();

    bytes32 private constant DOMAIN_TYPEHASH =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    bytes32 private constant CONFIG_TYPEHASH = keccak256(
        "ChannelConfig(address payer,address payerAuthorizer,address receiver,address receiverAuthorizer,address token,uint40 withdrawDelay,bytes32 salt)"
    );
    bytes32 private constant VOUCHER_TYPEHASH =
        keccak256("Voucher(bytes32 channelId,uint128 maxClaimableAmount)");

    mapping(bytes32 channelId => Channel channel) public channels;
    mapping(bytes32 channelId => Withdrawal withdrawal) public pendingWithdrawals;
    mapping(address receiver => mapping(address token => Receiver totals)) public receivers;

    /// @notice Adds the payer's tokens to a channel, as a collector brings them.
    function deposit(
        ChannelConfig calldata config,
        uint128 amount,
        address collector,
        bytes calldata collectorData
    ) external {
        if (config.withdrawDelay < 15 minutes || config.withdrawDelay > 30 days) {
            revert WithdrawDelayOutOfRange();
        }
        if (amount == 0 || config.receiver == address(0) || config.receiverAuthorizer == address(0)) {
            revert InvalidChannel();
        }
        bytes32 id = getChannelId(config);
        channels[id].balance += amount;
        emit Deposited(id, msg.sender, amount, channels[id].balance);
        Eip3009DepositCollector(collector).collect(config.payer, config.token, amount, id, collectorData);
    }

    /// @notice Records what the payers' vouchers are worth; a claim that adds nothing is passed over.
    function claim(VoucherClaim[] calldata voucherClaims) external {
        for (uint256 index; index < voucherClaims.length; ++index) {
            _claim(voucherClaims[index]);
        }
    }

    /// @notice Pays a receiver what is claimed for it, by whichever caller.
    function settle(address receiver, address token) external {
        Receiver storage totals = receivers[receiver][token];
        uint128 amount = totals.totalClaimed - totals.totalSettled;
        if (amount == 0) return;
        totals.totalSettled += amount;
        emit Settled(receiver, token, msg.sender, amount);
        SafeTransferLib.safeTransfer(token, receiver, amount);
    }

    /// @notice Announces that the payer takes back a part of what is not claimed.
    function initiateWithdraw(ChannelConfig calldata config, uint128 amount) external {
        bytes32 id = _requirePayer(config);
        if (pendingWithdrawals[id].initiatedAt != 0) revert WithdrawalAlreadyPending();
        if (amount == 0 || amount > _unclaimed(id)) revert WithdrawAmountExceedsAvailable();
        pendingWithdrawals[id] = Withdrawal(amount, uint40(block.timestamp));
        emit WithdrawInitiated(id, amount, uint40(block.timestamp) + config.withdrawDelay);
    }

    /// @notice Carries out a withdrawal after its delay, as far as the money was not claimed meanwhile.
    function finalizeWithdraw(ChannelConfig calldata config) external {
        bytes32 id = _requirePayer(config);
        Withdrawal memory pending = pendingWithdrawals[id];
        if (pending.initiatedAt == 0) revert WithdrawalNotPending();
        if (block.timestamp < pending.initiatedAt + config.withdrawDelay) revert WithdrawDelayNotElapsed();
        delete pendingWithdrawals[id];
        uint128 left = _unclaimed(id);
        uint128 amount = pending.amount < left ? pending.amount : left;
        channels[id].balance -= amount;
        emit WithdrawFinalized(id, msg.sender, amount);
        SafeTransferLib.safeTransfer(config.token, config.payer, amount);
    }

    function getChannelId(ChannelConfig calldata config) public view returns (bytes32) {
        return _typed(keccak256(abi.encode(CONFIG_TYPEHASH, config)));
    }

    function getVoucherDigest(bytes32 channelId, uint128 maxClaimableAmount) public view returns (bytes32) {
        return _typed(keccak256(abi.encode(VOUCHER_TYPEHASH, channelId, maxClaimableAmount)));
    }

    function _claim(VoucherClaim calldata row) private {
        ChannelConfig calldata config = row.voucher.channel;
        if (msg.sender != config.receiver && msg.sender != config.receiverAuthorizer) {
            revert NotAuthorizedToClaim();
        }
        bytes32 id = getChannelId(config);
        Channel storage channel = channels[id];
        if (row.totalClaimed <= channel.totalClaimed) return;
        if (row.totalClaimed > row.voucher.maxClaimableAmount) revert ClaimExceedsCeiling();
        if (row.totalClaimed > channel.balance) revert ClaimExceedsBalance();
        bytes32 digest = getVoucherDigest(id, row.voucher.maxClaimableAmount);
        if (ECDSA.recoverCalldata(digest, row.signature) != config.payerAuthorizer) {
            revert InvalidSignature();
        }
        uint128 added = row.totalClaimed - channel.totalClaimed;
        channel.totalClaimed = row.totalClaimed;
        receivers[config.receiver][config.token].totalClaimed += added;
        emit Claimed(id, msg.sender, added, row.totalClaimed);
    }

    function _requirePayer(ChannelConfig calldata config) private view returns (bytes32) {
        if (msg.sender != config.payer && msg.sender != config.payerAuthorizer) revert InvalidChannel();
        return getChannelId(config);
    }

    function _unclaimed(bytes32 id) private view returns (uint128) {
        return channels[id].balance - channels[id].totalClaimed;
    }

    function _typed(bytes32 structHash) private view returns (bytes32) {
        bytes32 domain = keccak256(
            abi.encode(
                DOMAIN_TYPEHASH,
                keccak256("x402 Batch Settlement"),
                keccak256("1"),
                block.chainid,
                address(this)
            )
        );
        return keccak256(abi.encodePacked(hex"1901", domain, structHash));
    }
}
