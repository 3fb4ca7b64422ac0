// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {PRBTest} from "@prb/test/PRBTest.sol";

import {GasBurner} from "../../../devnet/contracts/GasBurner.sol";
import {KeeperTarget} from "../../../devnet/contracts/KeeperTarget.sol";
import {PriceFeed} from "../../../devnet/contracts/PriceFeed.sol";
import {RepairableTarget} from "../../../devnet/contracts/RepairableTarget.sol";
import {RevertOnDemand} from "../../../devnet/contracts/RevertOnDemand.sol";
import {SmartWallet} from "../../../devnet/contracts/SmartWallet.sol";
import {SpamToken} from "../../../devnet/contracts/SpamToken.sol";

contract TargetsTest is PRBTest {
    address private constant OTHER = address(0x07);

    function setUp() external {
        vm.warp(1_790_000_000);
    }

    function test_AKeeperTargetCountsRunsAndRefusesLateOnes() external {
        KeeperTarget target = new KeeperTarget();
        target.perform(3, block.timestamp);
        target.perform(3, block.timestamp);
        assertEq(target.runsOf(3), 2);
        vm.expectRevert(abi.encodeWithSelector(KeeperTarget.TooLate.selector, block.timestamp - 1));
        target.perform(3, block.timestamp - 1);
    }

    function test_RevertOnDemandEndsAsAsked() external {
        RevertOnDemand target = new RevertOnDemand();
        target.run(RevertOnDemand.Mode.Succeed, "");
        assertEq(target.runs(), 1);
        vm.expectRevert("because");
        target.run(RevertOnDemand.Mode.Reason, "because");
        vm.expectRevert(
            abi.encodeWithSelector(
                RevertOnDemand.Refused.selector, address(this), RevertOnDemand.Mode.TypedError
            )
        );
        target.run(RevertOnDemand.Mode.TypedError, "");
        (bool ok, bytes memory result) =
            address(target).call(abi.encodeCall(RevertOnDemand.run, (RevertOnDemand.Mode.Silent, "")));
        assertFalse(ok);
        assertEq(result.length, 0);
        vm.expectRevert(abi.encodeWithSignature("Panic(uint256)", 1));
        target.run(RevertOnDemand.Mode.Panic, "");
    }

    function test_AGasBurnerRunsOutUnderALowLimitOnly() external {
        GasBurner burner = new GasBurner();
        (bool ok,) = address(burner).call{gas: 40_000}(abi.encodeCall(GasBurner.burn, (400)));
        assertFalse(ok);
        (ok,) = address(burner).call{gas: 200_000}(abi.encodeCall(GasBurner.burn, (400)));
        assertTrue(ok);
    }

    function test_ARepairableTargetIsBrokenForOneCallerUntilRepairedOrItsTimeIsOver() external {
        RepairableTarget target = new RepairableTarget();
        uint256 until = block.timestamp + 1 hours;
        target.breakDown(address(this), until);
        vm.expectRevert(abi.encodeWithSelector(RepairableTarget.Broken.selector, address(this), until));
        target.work();
        vm.prank(OTHER);
        target.work();
        target.repair();
        target.work();

        target.breakDown(address(this), until);
        vm.warp(until);
        target.work();
        assertEq(target.runsOf(address(this)), 2);
    }

    function test_AFeedAnswersItsNewestRoundsAndForgetsTheOldest() external {
        PriceFeed feed = new PriceFeed("ETH / USD", 8, 2_000e8);
        for (int256 i = 1; i <= 64; ++i) {
            feed.setAnswer(2_000e8 + i);
        }
        (uint80 roundId, int256 answer,, uint256 updatedAt, uint80 answeredInRound) = feed.latestRoundData();
        assertEq(roundId, 65);
        assertEq(answer, 2_000e8 + 64);
        assertEq(updatedAt, block.timestamp);
        assertEq(answeredInRound, 65);
        (, answer,,,) = feed.getRoundData(2);
        assertEq(answer, 2_000e8 + 1);
        vm.expectRevert(abi.encodeWithSelector(PriceFeed.NoDataPresent.selector, 1));
        feed.getRoundData(1);
        vm.expectRevert(abi.encodeWithSelector(PriceFeed.InvalidAnswer.selector, 0));
        feed.setAnswer(0);
    }

    function test_SpamIsDroppedOnWalletsAndNeverMoves() external {
        SpamToken spam = new SpamToken();
        address[] memory victims = new address[](1);
        victims[0] = OTHER;
        spam.airdrop(victims, 5);
        assertEq(spam.balanceOf(OTHER), 5);
        vm.prank(OTHER);
        vm.expectRevert(SpamToken.ClaimOnWebsiteFirst.selector);
        spam.transfer(address(this), 1);
    }

    function test_ASmartWalletActsForItsOwnerAlone() external {
        KeeperTarget target = new KeeperTarget();
        SmartWallet wallet = new SmartWallet(address(this));
        SmartWallet.Call[] memory calls = new SmartWallet.Call[](2);
        calls[0] =
            SmartWallet.Call(address(target), 0, abi.encodeCall(KeeperTarget.perform, (1, block.timestamp)));
        calls[1] = calls[0];
        wallet.executeBatch(calls);
        assertEq(target.runsOf(1), 2);

        vm.expectRevert(abi.encodeWithSelector(KeeperTarget.TooLate.selector, 0));
        wallet.execute(address(target), 0, abi.encodeCall(KeeperTarget.perform, (1, 0)));
        vm.prank(OTHER);
        vm.expectRevert(abi.encodeWithSelector(SmartWallet.NotOwner.selector, OTHER));
        wallet.execute(address(target), 0, "");
    }
}
