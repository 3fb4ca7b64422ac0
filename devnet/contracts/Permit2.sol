// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {SafeTransferLib} from "solady/utils/SafeTransferLib.sol";
import {SignatureCheckerLib} from "solady/utils/SignatureCheckerLib.sol";

/// @notice Signature transfers with a witness, with the ABI and the EIP-712 types of Permit2.
/// @dev For the local chain alone, which has it at Permit2's own address; only what x402 payments use.
contract Permit2 {
    struct TokenPermissions {
        address token;
        uint256 amount;
    }

    struct PermitTransferFrom {
        TokenPermissions permitted;
        uint256 nonce;
        uint256 deadline;
    }

    struct SignatureTransferDetails {
        address to;
        uint256 requestedAmount;
    }

    /// @notice The owner withdrew the nonces of a word whose bits the mask sets. Spent nonces have no event.
    event UnorderedNonceInvalidation(address indexed owner, uint256 word, uint256 mask);

    error InvalidAmount(uint256 maxAmount);
    error InvalidNonce();
    error InvalidSignature();
    error SignatureExpired(uint256 signatureDeadline);

    bytes32 private constant TOKEN_PERMISSIONS_TYPEHASH =
        keccak256("TokenPermissions(address token,uint256 amount)");
    string private constant PERMIT_TYPE_START =
        "PermitWitnessTransferFrom(TokenPermissions permitted,address spender,uint256 nonce,uint256 deadline,";

    /// @notice Spent and withdrawn nonces: bit `nonce & 255` of word `nonce >> 8`.
    mapping(address owner => mapping(uint256 word => uint256 bits)) public nonceBitmap;

    /// @notice Moves up to the permitted amount; the owner signed the caller as spender, and the witness.
    function permitWitnessTransferFrom(
        PermitTransferFrom calldata permit,
        SignatureTransferDetails calldata transferDetails,
        address owner,
        bytes32 witness,
        string calldata witnessTypeString,
        bytes calldata signature
    ) external {
        if (block.timestamp > permit.deadline) {
            revert SignatureExpired(permit.deadline);
        }
        if (transferDetails.requestedAmount > permit.permitted.amount) {
            revert InvalidAmount(permit.permitted.amount);
        }
        _useNonce(owner, permit.nonce);
        bytes32 structHash = _hash(permit, witness, witnessTypeString);
        bytes32 digest = keccak256(abi.encodePacked(hex"1901", DOMAIN_SEPARATOR(), structHash));
        if (!SignatureCheckerLib.isValidSignatureNowCalldata(owner, digest, signature)) {
            revert InvalidSignature();
        }
        SafeTransferLib.safeTransferFrom(
            permit.permitted.token, owner, transferDetails.to, transferDetails.requestedAmount
        );
    }

    /// @notice Withdraws nonces of the caller.
    function invalidateUnorderedNonces(uint256 wordPos, uint256 mask) external {
        nonceBitmap[msg.sender][wordPos] |= mask;
        emit UnorderedNonceInvalidation(msg.sender, wordPos, mask);
    }

    function DOMAIN_SEPARATOR() public view returns (bytes32) {
        return keccak256(
            abi.encode(
                keccak256("EIP712Domain(string name,uint256 chainId,address verifyingContract)"),
                keccak256("Permit2"),
                block.chainid,
                address(this)
            )
        );
    }

    function _hash(PermitTransferFrom calldata permit, bytes32 witness, string calldata witnessTypeString)
        private
        view
        returns (bytes32)
    {
        bytes32 typeHash = keccak256(abi.encodePacked(PERMIT_TYPE_START, witnessTypeString));
        bytes32 permitted = keccak256(
            abi.encode(TOKEN_PERMISSIONS_TYPEHASH, permit.permitted.token, permit.permitted.amount)
        );
        return keccak256(abi.encode(typeHash, permitted, msg.sender, permit.nonce, permit.deadline, witness));
    }

    function _useNonce(address owner, uint256 nonce) private {
        uint256 bit = 1 << (nonce & 0xff);
        uint256 bits = nonceBitmap[owner][nonce >> 8];
        if (bits & bit != 0) revert InvalidNonce();
        nonceBitmap[owner][nonce >> 8] = bits | bit;
    }
}
