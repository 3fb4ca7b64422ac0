// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {Ownable} from "solady/auth/Ownable.sol";
import {ERC20} from "solady/tokens/ERC20.sol";
import {SignatureCheckerLib} from "solady/utils/SignatureCheckerLib.sol";

/// @notice Token in the shape of USDC (FiatToken v2.2): 6 decimals, EIP-2612 permits, EIP-3009 authorizations.
/// @dev The revert texts of the authorizations are FiatToken's own, since payment clients match on them.
contract UsdCoin is ERC20, Ownable {
    /// @notice The authorization was spent.
    event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce);
    /// @notice The authorization was withdrawn unspent.
    event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce);

    bytes32 public constant TRANSFER_WITH_AUTHORIZATION_TYPEHASH = keccak256(
        "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );
    bytes32 public constant RECEIVE_WITH_AUTHORIZATION_TYPEHASH = keccak256(
        "ReceiveWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );
    bytes32 public constant CANCEL_AUTHORIZATION_TYPEHASH =
        keccak256("CancelAuthorization(address authorizer,bytes32 nonce)");

    mapping(address authorizer => mapping(bytes32 nonce => bool used)) private _used;

    constructor(address owner_) {
        _initializeOwner(owner_);
    }

    /// @notice Creates tokens; owner only.
    function mint(address to, uint256 amount) external onlyOwner {
        _mint(to, amount);
    }

    /// @notice Moves tokens by a signature of `from`, relayed by anyone.
    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        transferWithAuthorization(from, to, value, validAfter, validBefore, nonce, abi.encodePacked(r, s, v));
    }

    /// @notice Moves tokens by an ECDSA or ERC-1271 signature of `from`, relayed by anyone.
    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) public {
        bytes32 structHash = keccak256(
            abi.encode(TRANSFER_WITH_AUTHORIZATION_TYPEHASH, from, to, value, validAfter, validBefore, nonce)
        );
        _spend(from, validAfter, validBefore, nonce, structHash, signature);
        _transfer(from, to, value);
    }

    /// @notice Like `transferWithAuthorization`, but only the payee may relay it.
    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        receiveWithAuthorization(from, to, value, validAfter, validBefore, nonce, abi.encodePacked(r, s, v));
    }

    /// @notice Like `transferWithAuthorization` with a bytes signature, but only the payee may relay it.
    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) public {
        require(to == msg.sender, "FiatTokenV2: caller must be the payee");
        bytes32 structHash = keccak256(
            abi.encode(RECEIVE_WITH_AUTHORIZATION_TYPEHASH, from, to, value, validAfter, validBefore, nonce)
        );
        _spend(from, validAfter, validBefore, nonce, structHash, signature);
        _transfer(from, to, value);
    }

    /// @notice Withdraws an unspent authorization by a signature of its authorizer.
    function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s) external {
        cancelAuthorization(authorizer, nonce, abi.encodePacked(r, s, v));
    }

    /// @notice Withdraws an unspent authorization by an ECDSA or ERC-1271 signature of its authorizer.
    function cancelAuthorization(address authorizer, bytes32 nonce, bytes memory signature) public {
        require(!_used[authorizer][nonce], "FiatTokenV2: authorization is used or canceled");
        _checkSignature(
            authorizer, keccak256(abi.encode(CANCEL_AUTHORIZATION_TYPEHASH, authorizer, nonce)), signature
        );
        _used[authorizer][nonce] = true;
        emit AuthorizationCanceled(authorizer, nonce);
    }

    /// @notice Whether the authorization was spent or withdrawn.
    function authorizationState(address authorizer, bytes32 nonce) external view returns (bool) {
        return _used[authorizer][nonce];
    }

    function name() public pure override returns (string memory) {
        return "USD Coin";
    }

    function symbol() public pure override returns (string memory) {
        return "USDC";
    }

    function decimals() public pure override returns (uint8) {
        return 6;
    }

    function version() external pure returns (string memory) {
        return "2";
    }

    /// @dev USDC has to be approved for Permit2 like for any other spender.
    function _givePermit2InfiniteAllowance() internal pure override returns (bool) {
        return false;
    }

    function _versionHash() internal pure override returns (bytes32) {
        return keccak256("2");
    }

    function _spend(
        address from,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes32 structHash,
        bytes memory signature
    ) private {
        require(block.timestamp > validAfter, "FiatTokenV2: authorization is not yet valid");
        require(block.timestamp < validBefore, "FiatTokenV2: authorization is expired");
        require(!_used[from][nonce], "FiatTokenV2: authorization is used or canceled");
        _checkSignature(from, structHash, signature);
        _used[from][nonce] = true;
        emit AuthorizationUsed(from, nonce);
    }

    function _checkSignature(address signer, bytes32 structHash, bytes memory signature) private view {
        bytes32 digest = keccak256(abi.encodePacked(hex"1901", DOMAIN_SEPARATOR(), structHash));
        require(
            SignatureCheckerLib.isValidSignatureNow(signer, digest, signature),
            "FiatTokenV2: invalid signature"
        );
    }
}
