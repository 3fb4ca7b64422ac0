// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {PRBTest} from "@prb/test/PRBTest.sol";

import {BatchSettlement} from "../../../devnet/contracts/BatchSettlement.sol";
import {Eip3009DepositCollector} from "../../../devnet/contracts/Eip3009DepositCollector.sol";
import {UsdCoin} from "../../../devnet/contracts/UsdCoin.sol";

contract BatchSettlementTest is PRBTest {
    uint256 private constant NOW = 1_790_000_000;
    uint256 private constant PAYER_KEY = 0xBEEF;
    address private constant PAYEE = address(0xCAFE);
    address private constant AUTHORIZER = address(0x5717);
    address private constant STRANGER = address(0xDEAD);
    uint256 private constant SALT = 7;
    /// @dev The collector knows the official address of the channels.
    BatchSettlement private constant CHANNELS = BatchSettlement(0x4020074e9dF2ce1deE5A9C1b5c3f541D02a10003);

    UsdCoin private usdc;
    Eip3009DepositCollector private collector;
    BatchSettlement.ChannelConfig private config;
    address private payer;
    bytes32 private id;

    function setUp() external {
        vm.warp(NOW);
        vm.etch(address(CHANNELS), address(new BatchSettlement()).code);
        usdc = new UsdCoin(address(this));
        collector = new Eip3009DepositCollector();
        payer = vm.addr(PAYER_KEY);
        usdc.mint(payer, 100);
        config = BatchSettlement.ChannelConfig(
            payer, payer, PAYEE, AUTHORIZER, address(usdc), 1 days, bytes32(uint256(1))
        );
        id = CHANNELS.getChannelId(config);
    }

    function testFuzz_VouchersPayWhatTheyAreForAndNoMore(uint128 first, uint128 second) external {
        _deposit();
        first = first % 101;
        second = second % 101;
        vm.startPrank(AUTHORIZER);
        CHANNELS.claim(_voucher(first, first));
        CHANNELS.claim(_voucher(second, second));
        CHANNELS.settle(PAYEE, address(usdc));
        CHANNELS.settle(PAYEE, address(usdc));
        uint256 highest = first > second ? first : second;
        assertEq(usdc.balanceOf(PAYEE), highest);
        assertEq(usdc.balanceOf(address(CHANNELS)), 100 - highest);
    }

    function test_ClaimsAreForTheReceiverSideByVouchersOfThePayer() external {
        _deposit();
        BatchSettlement.VoucherClaim[] memory fair = _voucher(10, 10);
        BatchSettlement.VoucherClaim[] memory greedy = _voucher(10, 11);
        BatchSettlement.VoucherClaim[] memory uncovered = _voucher(101, 101);
        BatchSettlement.VoucherClaim[] memory forged = _voucher(10, 10);
        forged[0].voucher.maxClaimableAmount = 20;
        vm.prank(STRANGER);
        vm.expectRevert(BatchSettlement.NotAuthorizedToClaim.selector);
        CHANNELS.claim(fair);
        vm.startPrank(AUTHORIZER);
        vm.expectRevert(BatchSettlement.ClaimExceedsCeiling.selector);
        CHANNELS.claim(greedy);
        vm.expectRevert(BatchSettlement.ClaimExceedsBalance.selector);
        CHANNELS.claim(uncovered);
        vm.expectRevert(BatchSettlement.InvalidSignature.selector);
        CHANNELS.claim(forged);
    }

    function test_APayerWithdrawsAfterTheDelayWhatIsNotClaimedUntilThen() external {
        _deposit();
        vm.prank(STRANGER);
        vm.expectRevert(BatchSettlement.InvalidChannel.selector);
        CHANNELS.initiateWithdraw(config, 1);
        vm.startPrank(payer);
        vm.expectRevert(BatchSettlement.WithdrawAmountExceedsAvailable.selector);
        CHANNELS.initiateWithdraw(config, 101);
        CHANNELS.initiateWithdraw(config, 90);
        vm.expectRevert(BatchSettlement.WithdrawalAlreadyPending.selector);
        CHANNELS.initiateWithdraw(config, 1);
        vm.expectRevert(BatchSettlement.WithdrawDelayNotElapsed.selector);
        CHANNELS.finalizeWithdraw(config);
        vm.stopPrank();

        BatchSettlement.VoucherClaim[] memory claims = _voucher(30, 30);
        vm.prank(AUTHORIZER);
        CHANNELS.claim(claims);
        vm.warp(NOW + 1 days);
        vm.startPrank(payer);
        CHANNELS.finalizeWithdraw(config);
        vm.expectRevert(BatchSettlement.WithdrawalNotPending.selector);
        CHANNELS.finalizeWithdraw(config);
        assertEq(usdc.balanceOf(payer), 70);
        CHANNELS.settle(PAYEE, address(usdc));
        assertEq(usdc.balanceOf(PAYEE), 30);
    }

    function test_ADepositIsForTheChannelThatItsPayerSigned() external {
        bytes memory signed = _authorization();
        vm.expectRevert(Eip3009DepositCollector.OnlyBatchSettlement.selector);
        collector.collect(payer, address(usdc), 100, id, signed);
        config.receiver = STRANGER;
        vm.expectRevert("FiatTokenV2: invalid signature");
        CHANNELS.deposit(config, 100, address(collector), signed);
        config.withdrawDelay = 14 minutes;
        vm.expectRevert(BatchSettlement.WithdrawDelayOutOfRange.selector);
        CHANNELS.deposit(config, 100, address(collector), signed);
    }

    function _deposit() private {
        CHANNELS.deposit(config, 100, address(collector), _authorization());
    }

    function _authorization() private view returns (bytes memory) {
        bytes32 nonce = keccak256(abi.encode(id, SALT));
        bytes32 message = keccak256(
            abi.encode(
                usdc.RECEIVE_WITH_AUTHORIZATION_TYPEHASH(), payer, address(collector), 100, 0, NOW + 60, nonce
            )
        );
        bytes32 digest = keccak256(abi.encodePacked(hex"1901", usdc.DOMAIN_SEPARATOR(), message));
        return abi.encode(0, NOW + 60, SALT, _sign(digest));
    }

    function _voucher(uint128 ceiling, uint128 amount)
        private
        view
        returns (BatchSettlement.VoucherClaim[] memory claims)
    {
        claims = new BatchSettlement.VoucherClaim[](1);
        bytes memory signature = _sign(CHANNELS.getVoucherDigest(id, ceiling));
        claims[0] = BatchSettlement.VoucherClaim(BatchSettlement.Voucher(config, ceiling), signature, amount);
    }

    function _sign(bytes32 digest) private pure returns (bytes memory) {
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(PAYER_KEY, digest);
        return abi.encodePacked(r, s, v);
    }
}
