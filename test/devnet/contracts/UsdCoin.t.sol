// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {PRBTest} from "@prb/test/PRBTest.sol";
import {Ownable} from "solady/auth/Ownable.sol";

import {SmartWallet} from "../../../devnet/contracts/SmartWallet.sol";
import {UsdCoin} from "../../../devnet/contracts/UsdCoin.sol";

contract UsdCoinTest is PRBTest {
    event Transfer(address indexed from, address indexed to, uint256 amount);

    uint256 private constant NOW = 1_790_000_000;
    uint256 private constant PAYER_KEY = 0xBEEF;
    address private constant PAYEE = address(0xCAFE);
    address private constant RELAYER = address(0x5717);
    bytes32 private constant NONCE = keccak256("nonce");

    UsdCoin private usdc;
    address private payer;

    function setUp() external {
        vm.warp(NOW);
        usdc = new UsdCoin(address(this));
        payer = vm.addr(PAYER_KEY);
        usdc.mint(payer, 100e6);
    }

    function test_ItIsShapedLikeUsdc() external {
        assertEq(usdc.name(), "USD Coin");
        assertEq(usdc.version(), "2");
        assertEq(usdc.decimals(), 6);
        assertEq(
            usdc.TRANSFER_WITH_AUTHORIZATION_TYPEHASH(),
            0x7c7c6cdb67a18743f49ec6fa9b35f50d52ed05cbed4cc592e13b44501c1a2267
        );
        assertEq(
            usdc.RECEIVE_WITH_AUTHORIZATION_TYPEHASH(),
            0xd099cc98ef71107a616c4f0f941f04c322d8e254fe26b3c6668db87aae413de8
        );
        assertEq(
            usdc.CANCEL_AUTHORIZATION_TYPEHASH(),
            0x158b0a9edf7a828aad02f63cd515c68ef2f50ba807396f6d12842833a1597429
        );
    }

    function test_OnlyTheOwnerMints() external {
        vm.prank(RELAYER);
        vm.expectRevert(Ownable.Unauthorized.selector);
        usdc.mint(RELAYER, 1);
    }

    function testFuzz_AnyoneRelaysASignedTransferOnce(uint64 value) external {
        uint256 amount = uint256(value) % 100e6;
        (uint8 v, bytes32 r, bytes32 s) = _signTransfer(payer, amount, 0, NOW + 60);

        vm.expectEmit(true, true, true, true);
        emit UsdCoin.AuthorizationUsed(payer, NONCE);
        vm.expectEmit(true, true, true, true);
        emit Transfer(payer, PAYEE, amount);
        vm.prank(RELAYER);
        usdc.transferWithAuthorization(payer, PAYEE, amount, 0, NOW + 60, NONCE, v, r, s);

        assertEq(usdc.balanceOf(PAYEE), amount);
        assertTrue(usdc.authorizationState(payer, NONCE));
        vm.expectRevert("FiatTokenV2: authorization is used or canceled");
        usdc.transferWithAuthorization(payer, PAYEE, amount, 0, NOW + 60, NONCE, v, r, s);
    }

    function test_ASignatureInBytesServesAsWell() external {
        (uint8 v, bytes32 r, bytes32 s) = _signTransfer(payer, 5e6, 0, NOW + 60);
        usdc.transferWithAuthorization(payer, PAYEE, 5e6, 0, NOW + 60, NONCE, abi.encodePacked(r, s, v));
        assertEq(usdc.balanceOf(PAYEE), 5e6);
    }

    function test_ASmartWalletPaysBySignatureOfItsOwner() external {
        address account = address(new SmartWallet(payer));
        usdc.mint(account, 7e6);
        (uint8 v, bytes32 r, bytes32 s) = _signTransfer(account, 7e6, 0, NOW + 60);
        usdc.transferWithAuthorization(account, PAYEE, 7e6, 0, NOW + 60, NONCE, abi.encodePacked(r, s, v));
        assertEq(usdc.balanceOf(PAYEE), 7e6);
    }

    function test_AnAuthorizationHoldsStrictlyWithinItsTime() external {
        (uint8 v, bytes32 r, bytes32 s) = _signTransfer(payer, 1, NOW, NOW + 60);
        vm.expectRevert("FiatTokenV2: authorization is not yet valid");
        usdc.transferWithAuthorization(payer, PAYEE, 1, NOW, NOW + 60, NONCE, v, r, s);
        vm.warp(NOW + 60);
        vm.expectRevert("FiatTokenV2: authorization is expired");
        usdc.transferWithAuthorization(payer, PAYEE, 1, NOW, NOW + 60, NONCE, v, r, s);
        vm.warp(NOW + 59);
        usdc.transferWithAuthorization(payer, PAYEE, 1, NOW, NOW + 60, NONCE, v, r, s);
    }

    function test_ASignatureOverAnotherAmountIsRefused() external {
        (uint8 v, bytes32 r, bytes32 s) = _signTransfer(payer, 1, 0, NOW + 60);
        vm.expectRevert("FiatTokenV2: invalid signature");
        usdc.transferWithAuthorization(payer, PAYEE, 2, 0, NOW + 60, NONCE, v, r, s);
    }

    function test_OnlyThePayeeRelaysAReceive() external {
        (uint8 v, bytes32 r, bytes32 s) = _sign(
            keccak256(
                abi.encode(usdc.RECEIVE_WITH_AUTHORIZATION_TYPEHASH(), payer, PAYEE, 3e6, 0, NOW + 60, NONCE)
            )
        );
        vm.prank(RELAYER);
        vm.expectRevert("FiatTokenV2: caller must be the payee");
        usdc.receiveWithAuthorization(payer, PAYEE, 3e6, 0, NOW + 60, NONCE, v, r, s);
        vm.prank(PAYEE);
        usdc.receiveWithAuthorization(payer, PAYEE, 3e6, 0, NOW + 60, NONCE, v, r, s);
        assertEq(usdc.balanceOf(PAYEE), 3e6);
    }

    function test_ACanceledAuthorizationIsSpent() external {
        (uint8 v, bytes32 r, bytes32 s) =
            _sign(keccak256(abi.encode(usdc.CANCEL_AUTHORIZATION_TYPEHASH(), payer, NONCE)));
        usdc.cancelAuthorization(payer, NONCE, v, r, s);
        assertTrue(usdc.authorizationState(payer, NONCE));

        (v, r, s) = _signTransfer(payer, 1, 0, NOW + 60);
        vm.expectRevert("FiatTokenV2: authorization is used or canceled");
        usdc.transferWithAuthorization(payer, PAYEE, 1, 0, NOW + 60, NONCE, v, r, s);
    }

    function test_APermitSetsTheAllowance() external {
        bytes32 typeHash =
            keccak256("Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)");
        (uint8 v, bytes32 r, bytes32 s) =
            _sign(keccak256(abi.encode(typeHash, payer, RELAYER, 9e6, 0, NOW + 60)));
        usdc.permit(payer, RELAYER, 9e6, NOW + 60, v, r, s);
        assertEq(usdc.allowance(payer, RELAYER), 9e6);
        assertEq(usdc.nonces(payer), 1);
    }

    function _signTransfer(address from, uint256 value, uint256 validAfter, uint256 validBefore)
        private
        view
        returns (uint8 v, bytes32 r, bytes32 s)
    {
        bytes32 typeHash = usdc.TRANSFER_WITH_AUTHORIZATION_TYPEHASH();
        return _sign(keccak256(abi.encode(typeHash, from, PAYEE, value, validAfter, validBefore, NONCE)));
    }

    /// @dev The domain is spelled out, for clients build it from name and version.
    function _sign(bytes32 message) private view returns (uint8 v, bytes32 r, bytes32 s) {
        bytes32 domain = keccak256(
            abi.encode(
                keccak256(
                    "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"
                ),
                keccak256("USD Coin"),
                keccak256("2"),
                block.chainid,
                address(usdc)
            )
        );
        return vm.sign(PAYER_KEY, keccak256(abi.encodePacked(hex"1901", domain, message)));
    }
}
