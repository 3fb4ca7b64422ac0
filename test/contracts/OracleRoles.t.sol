// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IAgentHealthOracle} from "../../contracts/interfaces/IAgentHealthOracle.sol";
import {OracleFixture} from "./OracleFixture.sol";

/// owner, publisher, signers, pause, fees, invalidation
/// ├── anyone but the owner → NotOwner
/// ├── ownership moves in two steps; an offer can be withdrawn
/// ├── setPublisher takes effect at once and keeps pause and epoch
/// ├── setSigner adds, limits, removes; at most 8
/// ├── setPaused stops publish, publishSigned, publishRoot, requestScore and nothing that reads
/// ├── requestScore takes exactly the fee; the owner withdraws all
/// └── invalidate clears records and keeps their floors
contract OracleRolesTest is OracleFixture {
    event ScoreRequested(address indexed wallet, address indexed requester, uint256 fee);
    event Invalidated(address[] wallets);

    function test_DeploymentSetsEveryRole() external {
        assertEq(oracle.owner(), OWNER);
        assertEq(oracle.publisher(), PUBLISHER);
        assertEq(oracle.pendingOwner(), address(0));
        assertEq(oracle.identityRegistry(), address(registry));
        assertEq(oracle.signers().length, 1);
        assertEq(oracle.signerUntil(signer), type(uint64).max);
        assertFalse(oracle.paused());
        assertEq(oracle.requestFee(), 0);
    }

    function test_RevertWhen_CallerIsNotOwner() external {
        bytes[] memory calls = new bytes[](8);
        calls[0] = abi.encodeCall(oracle.invalidate, (new address[](0)));
        calls[1] = abi.encodeCall(oracle.transferOwnership, (STRANGER));
        calls[2] = abi.encodeCall(oracle.setPublisher, (STRANGER));
        calls[3] = abi.encodeCall(oracle.setSigner, (STRANGER, type(uint64).max));
        calls[4] = abi.encodeCall(oracle.setPaused, (true));
        calls[5] = abi.encodeCall(oracle.setRequestFee, (1));
        calls[6] = abi.encodeCall(oracle.withdrawFees, (STRANGER));
        calls[7] = abi.encodeCall(oracle.setSigner, (signer, 0));
        address[2] memory callers = [STRANGER, PUBLISHER];
        for (uint256 i; i < calls.length; ++i) {
            for (uint256 j; j < 2; ++j) {
                vm.prank(callers[j]);
                (bool ok, bytes memory data) = address(oracle).call(calls[i]);
                assertFalse(ok, "a stranger administered");
                assertEq(data, abi.encodeWithSelector(IAgentHealthOracle.NotOwner.selector, callers[j]));
            }
        }
    }

    function test_OwnershipMovesInTwoSteps() external {
        vm.prank(OWNER);
        oracle.transferOwnership(STRANGER);
        assertEq(oracle.owner(), OWNER);
        vm.expectRevert(abi.encodeWithSelector(IAgentHealthOracle.NotPendingOwner.selector, PUBLISHER));
        vm.prank(PUBLISHER);
        oracle.acceptOwnership();
        vm.prank(STRANGER);
        oracle.acceptOwnership();
        assertEq(oracle.owner(), STRANGER);
        assertEq(oracle.pendingOwner(), address(0));
    }

    function test_AnOfferOfOwnershipCanBeWithdrawn() external {
        vm.startPrank(OWNER);
        oracle.transferOwnership(STRANGER);
        oracle.transferOwnership(address(0));
        vm.stopPrank();
        vm.expectRevert(abi.encodeWithSelector(IAgentHealthOracle.NotPendingOwner.selector, STRANGER));
        vm.prank(STRANGER);
        oracle.acceptOwnership();
    }

    function test_SetPublisherKeepsPauseAndEpoch() external {
        vm.prank(PUBLISHER);
        oracle.publishRoot(bytes32(uint256(1)), 7, "");
        vm.startPrank(OWNER);
        oracle.setPaused(true);
        oracle.setPublisher(STRANGER);
        vm.stopPrank();
        assertEq(oracle.publisher(), STRANGER);
        assertTrue(oracle.paused());
        (uint64 epoch,) = oracle.latestRoot();
        assertEq(epoch, 7);

        vm.prank(OWNER);
        oracle.setPaused(false);
        vm.expectRevert(abi.encodeWithSelector(IAgentHealthOracle.NotPublisher.selector, PUBLISHER));
        _publishNow(80, 0);
        vm.prank(STRANGER);
        oracle.publish(HEAD, NOW, new bytes32[](0));
    }

    function test_RevertWhen_ARoleIsTheZeroAddress() external {
        vm.startPrank(OWNER);
        vm.expectRevert(IAgentHealthOracle.ZeroAddress.selector);
        oracle.setPublisher(address(0));
        vm.expectRevert(IAgentHealthOracle.ZeroAddress.selector);
        oracle.setSigner(address(0), type(uint64).max);
        vm.expectRevert(IAgentHealthOracle.ZeroAddress.selector);
        oracle.withdrawFees(address(0));
    }

    function test_SignersAreListedUntilRemoved() external {
        vm.startPrank(OWNER);
        oracle.setSigner(STRANGER, NOW - 1);
        oracle.setSigner(PUBLISHER, NOW);
        oracle.setSigner(PUBLISHER, NOW + 1);
        assertEq(oracle.signers().length, 3);
        oracle.setSigner(signer, 0);
        oracle.setSigner(signer, 0);
        vm.stopPrank();
        address[] memory listed = oracle.signers();
        assertEq(listed.length, 2);
        assertEq(listed[0], PUBLISHER);
        assertEq(listed[1], STRANGER);
        assertEq(oracle.signerUntil(PUBLISHER), NOW + 1);
        assertEq(oracle.signerUntil(signer), 0);
    }

    function test_RevertWhen_ThereAreTooManySigners() external {
        vm.startPrank(OWNER);
        for (uint160 i = 1; i < 8; ++i) {
            oracle.setSigner(address(i), NOW);
        }
        vm.expectRevert(abi.encodeWithSelector(IAgentHealthOracle.TooManySigners.selector, 8));
        oracle.setSigner(STRANGER, NOW);
        oracle.setSigner(address(1), 0);
        oracle.setSigner(STRANGER, NOW);
        assertEq(oracle.signers().length, 8);
    }

    function test_PauseStopsEveryWriteAndNoRead() external {
        _publishNow(80, 0);
        vm.prank(OWNER);
        oracle.setPaused(true);
        bytes memory refusal = abi.encodeWithSelector(IAgentHealthOracle.WritesPaused.selector);
        vm.expectRevert(refusal);
        _publishNow(81, 0);
        vm.expectRevert(refusal);
        vm.prank(PUBLISHER);
        oracle.publishRoot(bytes32(uint256(1)), 1, "");
        vm.expectRevert(refusal);
        oracle.requestScore(WALLET);

        assertEq(oracle.scoreOf(WALLET).score, 80);
        assertTrue(oracle.meetsThreshold(WALLET, 80, 0));
        vm.prank(OWNER);
        oracle.setPaused(false);
        _publish(HEAD, NOW, _word(STRANGER, 81, 0));
        assertEq(oracle.scoreOf(STRANGER).score, 81);
    }

    function test_RequestTakesExactlyTheFee() external {
        vm.prank(OWNER);
        oracle.setRequestFee(0.01 ether);
        vm.deal(STRANGER, 1 ether);
        vm.startPrank(STRANGER);
        vm.expectRevert(abi.encodeWithSelector(IAgentHealthOracle.WrongFee.selector, 0, 0.01 ether));
        oracle.requestScore(WALLET);
        vm.expectRevert(abi.encodeWithSelector(IAgentHealthOracle.WrongFee.selector, 0.02 ether, 0.01 ether));
        oracle.requestScore{value: 0.02 ether}(WALLET);
        vm.expectRevert(IAgentHealthOracle.ZeroAddress.selector);
        oracle.requestScore{value: 0.01 ether}(address(0));
        vm.expectEmit({
            checkTopic1: true, checkTopic2: true, checkTopic3: true, checkData: true, emitter: address(oracle)
        });
        emit ScoreRequested(WALLET, STRANGER, 0.01 ether);
        oracle.requestScore{value: 0.01 ether}(WALLET);
        vm.stopPrank();
        assertEq(address(oracle).balance, 0.01 ether);
        _assertNoRecord(WALLET);
    }

    function test_OwnerWithdrawsAllFees() external {
        address treasury = address(0x7EA5);
        vm.prank(OWNER);
        oracle.setRequestFee(0.01 ether);
        vm.deal(STRANGER, 1 ether);
        vm.startPrank(STRANGER);
        oracle.requestScore{value: 0.01 ether}(WALLET);
        oracle.requestScore{value: 0.01 ether}(WALLET);
        vm.stopPrank();
        vm.prank(OWNER);
        oracle.withdrawFees(treasury);
        assertEq(treasury.balance, 0.02 ether);
        assertEq(address(oracle).balance, 0);
    }

    function test_InvalidateClearsTheRecordAndKeepsTheFloor() external {
        _publish(HEAD - 1, NOW - 2, _word(WALLET, 95, SANCTIONED));
        address[] memory wallets = new address[](2);
        (wallets[0], wallets[1]) = (WALLET, STRANGER);
        vm.expectEmit({
            checkTopic1: true, checkTopic2: true, checkTopic3: true, checkData: true, emitter: address(oracle)
        });
        emit Invalidated(wallets);
        vm.prank(OWNER);
        oracle.invalidate(wallets);

        _assertNoRecord(WALLET);
        assertEq(oracle.asOfFloor(WALLET), HEAD - 1);
        assertEq(oracle.asOfFloor(STRANGER), 0);
        (IAgentHealthOracle.Route route,) = oracle.routeOf(WALLET, DAY);
        _assertRoute(route, IAgentHealthOracle.Route.Escrow);

        _publish(HEAD - 1, NOW, _word(WALLET, 95, 0));
        _assertNoRecord(WALLET);
        _publish(HEAD, NOW, _word(WALLET, 44, 0));
        assertEq(oracle.scoreOf(WALLET).score, 44);
    }

    function test_OwnerInvalidatesWhilePaused() external {
        _publishNow(80, 0);
        address[] memory wallets = new address[](1);
        wallets[0] = WALLET;
        vm.startPrank(OWNER);
        oracle.setPaused(true);
        oracle.invalidate(wallets);
        vm.stopPrank();
        _assertNoRecord(WALLET);
    }
}
