// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {VerdictEvaluator} from "../../contracts/VerdictEvaluator.sol";
import {IVerdictEvaluator} from "../../contracts/interfaces/IVerdictEvaluator.sol";
import {EscrowFixture} from "./escrow/EscrowFixture.sol";

/// @dev An evaluator that knows the suite's escrow. Another implementation of the interface runs the same suites by
/// overriding `_deploy`.
abstract contract VerdictFixture is EscrowFixture {
    uint8 internal constant ALLOW = 1;
    uint8 internal constant REJECT = 2;
    uint8 internal constant HOLD = 3;
    address internal constant OWNER = address(0xA110);
    uint256 internal constant SIGNER_KEY = 0x51;
    uint256 internal constant NEXT_KEY = 0x52;
    bytes32 internal constant EVIDENCE = keccak256("evidence");

    event VerdictSettled(
        address indexed escrow, uint256 indexed jobId, uint8 decision, uint16 score, bytes32 evidenceHash
    );
    event HoldRecorded(address indexed escrow, uint256 indexed jobId, bytes32 evidenceHash, uint64 reviewBy);

    IVerdictEvaluator internal evaluator;
    address internal escrow;
    address internal signer;

    function setUp() public virtual override {
        super.setUp();
        signer = vm.addr(SIGNER_KEY);
        address[] memory signers = new address[](1);
        signers[0] = signer;
        evaluator = _deploy(signers);
        escrow = driver.escrow();
        address adapter = address(driver.adapter());
        vm.prank(OWNER);
        evaluator.setEscrow(escrow, adapter);
    }

    function _deploy(address[] memory signers) internal virtual returns (IVerdictEvaluator) {
        return new VerdictEvaluator(OWNER, signers);
    }

    function _evaluator() internal view override returns (address) {
        return address(evaluator);
    }

    function _verdict(uint256 jobId, uint8 decision)
        internal
        view
        returns (IVerdictEvaluator.Verdict memory)
    {
        return IVerdictEvaluator.Verdict({
            escrow: escrow,
            jobId: jobId,
            deliverable: WORK,
            specHash: keccak256("spec"),
            decision: decision,
            score: 84,
            confidenceBps: 8_600,
            evidenceHash: EVIDENCE,
            issuedAt: uint64(block.timestamp),
            deadline: uint64(block.timestamp + 24 hours)
        });
    }

    function _sign(uint256 key, IVerdictEvaluator.Verdict memory verdict)
        internal
        view
        returns (bytes memory)
    {
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(key, evaluator.verdictDigest(verdict));
        return abi.encodePacked(r, s, v);
    }

    /// @dev Signs as the current signer and brings it.
    function _settle(IVerdictEvaluator.Verdict memory verdict) internal {
        bytes memory signature = _sign(SIGNER_KEY, verdict);
        evaluator.settle(verdict.escrow, verdict.jobId, verdict, signature);
    }

    function _hold(IVerdictEvaluator.Verdict memory verdict) internal {
        bytes memory signature = _sign(SIGNER_KEY, verdict);
        evaluator.hold(verdict.escrow, verdict.jobId, verdict, signature);
    }

    /// @dev The signature is made before the revert is expected: making it calls the evaluator.
    function _refusesToSettle(IVerdictEvaluator.Verdict memory verdict, bytes memory reason) internal {
        bytes memory signature = _sign(SIGNER_KEY, verdict);
        vm.expectRevert(reason);
        evaluator.settle(verdict.escrow, verdict.jobId, verdict, signature);
    }

    function _refusesToHold(IVerdictEvaluator.Verdict memory verdict, bytes memory reason) internal {
        bytes memory signature = _sign(SIGNER_KEY, verdict);
        vm.expectRevert(reason);
        evaluator.hold(verdict.escrow, verdict.jobId, verdict, signature);
    }

    function _expectEvent() internal {
        vm.expectEmit({
            checkTopic1: true,
            checkTopic2: true,
            checkTopic3: true,
            checkData: true,
            emitter: address(evaluator)
        });
    }
}
