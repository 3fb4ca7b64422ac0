// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {VerdictEvaluator} from "../../contracts/VerdictEvaluator.sol";
import {IVerdictEvaluator} from "../../contracts/interfaces/IVerdictEvaluator.sol";
import {SmartWallet} from "../../devnet/contracts/SmartWallet.sol";
import {OnG1} from "./escrow/EscrowFixture.sol";
import {VerdictFixture} from "./VerdictFixture.sol";

/// owner
/// ├── offers the ownership, which only the one named can take
/// ├── allows escrows with the code they have, and removes them
/// ├── adds, limits and removes signers, so that rotation overlaps
/// └── takes out the fees that escrows paid
contract VerdictRolesTest is VerdictFixture, OnG1 {
    event EscrowSet(address indexed escrow, address indexed adapter, bytes32 codeHash);
    event SignerSet(address indexed signer, uint64 until);

    function test_RevertWhen_AnyoneButTheOwnerDoesWhatIsTheOwners() external {
        bytes memory refusal = abi.encodeWithSelector(IVerdictEvaluator.NotOwner.selector, STRANGER);
        vm.startPrank(STRANGER);
        vm.expectRevert(refusal);
        evaluator.setEscrow(escrow, escrow);
        vm.expectRevert(refusal);
        evaluator.setSigner(STRANGER, type(uint64).max);
        vm.expectRevert(refusal);
        evaluator.withdrawFees(address(usdc), STRANGER);
        vm.expectRevert(refusal);
        evaluator.transferOwnership(STRANGER);
    }

    function test_RevertWhen_BuiltWithoutAnOwnerOrWithAnEmptySigner() external {
        vm.expectRevert(IVerdictEvaluator.ZeroAddress.selector);
        new VerdictEvaluator(address(0), new address[](0));
        vm.expectRevert(IVerdictEvaluator.ZeroAddress.selector);
        new VerdictEvaluator(OWNER, new address[](1));
    }

    function test_OwnershipPassesInTwoSteps() external {
        vm.prank(OWNER);
        evaluator.transferOwnership(STRANGER);
        assertEq(evaluator.owner(), OWNER, "still the old one");
        assertEq(evaluator.pendingOwner(), STRANGER, "offered");
        vm.expectRevert(abi.encodeWithSelector(IVerdictEvaluator.NotPendingOwner.selector, address(this)));
        evaluator.acceptOwnership();
        vm.prank(STRANGER);
        evaluator.acceptOwnership();
        assertEq(evaluator.owner(), STRANGER, "taken");
        assertEq(evaluator.pendingOwner(), address(0), "nothing on offer");
    }

    function test_RevertWhen_EscrowOrAdapterHasNoCode() external {
        vm.startPrank(OWNER);
        vm.expectRevert(abi.encodeWithSelector(IVerdictEvaluator.NoCode.selector, STRANGER));
        evaluator.setEscrow(STRANGER, escrow);
        vm.expectRevert(abi.encodeWithSelector(IVerdictEvaluator.NoCode.selector, STRANGER));
        evaluator.setEscrow(escrow, STRANGER);
    }

    function test_AnEscrowIsAllowedWithItsCodeAndRemoved() external {
        address adapter = address(driver.adapter());
        IVerdictEvaluator.Escrow memory known = evaluator.escrowOf(escrow);
        assertEq(known.adapter, adapter, "adapter");
        assertEq(known.codeHash, escrow.codehash, "code");

        // The owner has looked at the new code.
        vm.etch(escrow, bytes.concat(escrow.code, hex"00"));
        _expectEvent();
        emit EscrowSet(escrow, adapter, escrow.codehash);
        vm.prank(OWNER);
        evaluator.setEscrow(escrow, adapter);
        _settle(_verdict(_submitted(), ALLOW));

        _expectEvent();
        emit EscrowSet(escrow, address(0), bytes32(0));
        vm.prank(OWNER);
        evaluator.setEscrow(escrow, address(0));
        known = evaluator.escrowOf(escrow);
        assertEq(known.adapter, address(0), "removed");
        assertEq(known.codeHash, bytes32(0), "removed");
    }

    function test_RotationOverlaps() external {
        vm.startPrank(OWNER);
        _expectEvent();
        emit SignerSet(vm.addr(NEXT_KEY), type(uint64).max);
        evaluator.setSigner(vm.addr(NEXT_KEY), type(uint64).max);
        evaluator.setSigner(signer, NOW + 1 hours);
        vm.stopPrank();
        assertEq(evaluator.signers().length, 2, "signers");

        vm.warp(NOW + 1 hours);
        _settle(_verdict(_submitted(), ALLOW));
        vm.warp(NOW + 1 hours + 1);
        _refusesToSettle(
            _verdict(_submitted(), ALLOW), abi.encodeWithSelector(IVerdictEvaluator.InvalidSignature.selector)
        );
        IVerdictEvaluator.Verdict memory verdict = _verdict(_submitted(), ALLOW);
        bytes memory signature = _sign(NEXT_KEY, verdict);
        evaluator.settle(escrow, verdict.jobId, verdict, signature);
    }

    function test_RevertWhen_TheSignerWasRemoved() external {
        IVerdictEvaluator.Verdict memory verdict = _verdict(_submitted(), ALLOW);
        vm.prank(OWNER);
        evaluator.setSigner(signer, 0);
        _refusesToSettle(verdict, abi.encodeWithSelector(IVerdictEvaluator.InvalidSignature.selector));
        assertEq(evaluator.signers().length, 0, "signers");
        assertEq(evaluator.signerUntil(signer), 0, "until");
    }

    function test_RevertWhen_ThereAreTooManySigners() external {
        vm.startPrank(OWNER);
        for (uint160 i = 1; i < 8; ++i) {
            evaluator.setSigner(address(i), 1);
        }
        vm.expectRevert(abi.encodeWithSelector(IVerdictEvaluator.TooManySigners.selector, 8));
        evaluator.setSigner(address(9), 1);
        evaluator.setSigner(address(3), 0);
        evaluator.setSigner(address(9), 1);
    }

    function test_AContractSigns() external {
        SmartWallet smart = new SmartWallet(vm.addr(NEXT_KEY));
        IVerdictEvaluator.Verdict memory verdict = _verdict(_submitted(), ALLOW);
        bytes memory signature = _sign(NEXT_KEY, verdict);
        vm.expectRevert(IVerdictEvaluator.InvalidSignature.selector);
        evaluator.settle(escrow, verdict.jobId, verdict, signature);

        vm.prank(OWNER);
        evaluator.setSigner(address(smart), NOW);
        evaluator.settle(escrow, verdict.jobId, verdict, signature);
        assertEq(usdc.balanceOf(PROVIDER), BUDGET, "provider");
    }

    function test_RevertWhen_TheContractsTimeHasEnded() external {
        SmartWallet smart = new SmartWallet(vm.addr(NEXT_KEY));
        vm.prank(OWNER);
        evaluator.setSigner(address(smart), NOW - 1);
        IVerdictEvaluator.Verdict memory verdict = _verdict(_submitted(), ALLOW);
        bytes memory signature = _sign(NEXT_KEY, verdict);
        vm.expectRevert(IVerdictEvaluator.InvalidSignature.selector);
        evaluator.settle(escrow, verdict.jobId, verdict, signature);
    }

    function test_RevertWhen_FeesGoNowhere() external {
        vm.prank(OWNER);
        vm.expectRevert(IVerdictEvaluator.ZeroAddress.selector);
        evaluator.withdrawFees(address(usdc), address(0));
    }
}
