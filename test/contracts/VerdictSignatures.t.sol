// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {EIP712} from "solady/utils/EIP712.sol";

import {VerdictEvaluator} from "../../contracts/VerdictEvaluator.sol";
import {IVerdictEvaluator} from "../../contracts/interfaces/IVerdictEvaluator.sol";
import {OnV3} from "./escrow/EscrowFixture.sol";
import {VerdictFixture} from "./VerdictFixture.sol";

/// @dev What a signature is good for: one verdict, one evaluator, one chain, its time, once.
contract VerdictSignaturesTest is VerdictFixture, OnV3 {
    uint256 private constant ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141;

    function testFuzz_OnlyTheSignersKeyWorks(uint256 key, uint8 decision) external {
        key = 1 + key % (ORDER - 1);
        vm.assume(key != SIGNER_KEY);
        IVerdictEvaluator.Verdict memory verdict = _verdict(_submitted(), ALLOW + decision % 2);
        _refused(verdict, _sign(key, verdict));
    }

    function testFuzz_AnythingSignedThatIsChangedIsRefused(uint8 member, uint256 change) external {
        uint256 jobId = _submitted();
        IVerdictEvaluator.Verdict memory verdict = _verdict(jobId, ALLOW);
        verdict.issuedAt -= 10;
        verdict.deadline -= 20;
        bytes memory signature = _sign(SIGNER_KEY, verdict);
        bytes32 signed = keccak256(abi.encode(verdict));
        member %= 8;
        if (member == 0) verdict.deliverable = bytes32(change);
        if (member == 1) verdict.specHash = bytes32(change);
        if (member == 2) verdict.decision = REJECT;
        if (member == 3) verdict.score = uint16(change);
        if (member == 4) verdict.confidenceBps = uint16(change);
        if (member == 5) verdict.evidenceHash = bytes32(change);
        if (member == 6) verdict.issuedAt = NOW - 10 + uint64(change % 11);
        if (member == 7) verdict.deadline = NOW + uint64(change % (23 hours));
        vm.assume(keccak256(abi.encode(verdict)) != signed);
        _refused(verdict, signature);
    }

    function testFuzz_NoOtherBytesAreASignature(bytes memory signature) external {
        IVerdictEvaluator.Verdict memory verdict = _verdict(_submitted(), ALLOW);
        vm.assume(keccak256(signature) != keccak256(_sign(SIGNER_KEY, verdict)));
        _refused(verdict, signature);
    }

    function testFuzz_ASecondFormOfASignatureBuysNothing(uint8 first, uint8 second) external {
        uint256 jobId = _submitted();
        IVerdictEvaluator.Verdict memory verdict = _verdict(jobId, ALLOW);
        bytes[3] memory forms = _formsOf(verdict);
        evaluator.settle(escrow, jobId, verdict, forms[first % 3]);
        vm.expectRevert(
            abi.encodeWithSelector(IVerdictEvaluator.AlreadySettled.selector, escrow, jobId, ALLOW)
        );
        evaluator.settle(escrow, jobId, verdict, forms[second % 3]);
        assertEq(usdc.balanceOf(PROVIDER), BUDGET, "paid once");
    }

    function testFuzz_ASecondSignatureOfTheJobBuysNothing(uint8 first, uint8 second, bytes32 evidence)
        external
    {
        uint256 jobId = _submitted();
        IVerdictEvaluator.Verdict memory verdict = _verdict(jobId, ALLOW + first % 2);
        IVerdictEvaluator.Verdict memory other = _verdict(jobId, ALLOW + second % 2);
        other.evidenceHash = evidence;
        _settle(verdict);
        _refusesToSettle(
            other,
            abi.encodeWithSelector(IVerdictEvaluator.AlreadySettled.selector, escrow, jobId, verdict.decision)
        );
        assertEq(usdc.balanceOf(PROVIDER) + usdc.balanceOf(CLIENT), BUDGET, "moved once");
    }

    function testFuzz_ASignatureForAnotherChainIsRefused(uint64 chainId) external {
        vm.assume(chainId != 0 && chainId != block.chainid);
        uint256 here = block.chainid;
        IVerdictEvaluator.Verdict memory verdict = _verdict(_submitted(), ALLOW);
        vm.chainId(chainId);
        bytes memory signature = _sign(SIGNER_KEY, verdict);
        vm.chainId(here);
        _refused(verdict, signature);
    }

    function test_ASignatureForAnotherEvaluatorIsRefused() external {
        address[] memory signers = new address[](1);
        signers[0] = signer;
        IVerdictEvaluator other = new VerdictEvaluator(OWNER, signers);
        IVerdictEvaluator.Verdict memory verdict = _verdict(_submitted(), ALLOW);
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(SIGNER_KEY, other.verdictDigest(verdict));
        _refused(verdict, abi.encodePacked(r, s, v));
    }

    /// @dev The domain is cached for the chain it was deployed on, and not believed on another.
    function test_TheDomainFollowsAForkOfTheChain() external {
        bytes32 before = evaluator.domainSeparator();
        vm.chainId(8453);
        assertTrue(evaluator.domainSeparator() != before, "another chain, another domain");
        vm.chainId(31_337);
        assertEq(evaluator.domainSeparator(), before, "back");
    }

    function test_TheDomainIsDescribed() external {
        (, string memory name, string memory version, uint256 chainId, address at,,) =
            EIP712(address(evaluator)).eip712Domain();
        assertEq(name, "Agent Health Verdicts");
        assertEq(version, "1");
        assertEq(chainId, block.chainid);
        assertEq(at, address(evaluator));
    }

    /// @dev 65 bytes, the same with s mirrored, and 64 bytes.
    function _formsOf(IVerdictEvaluator.Verdict memory verdict) private view returns (bytes[3] memory forms) {
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(SIGNER_KEY, evaluator.verdictDigest(verdict));
        forms[0] = abi.encodePacked(r, s, v);
        forms[1] = bytes.concat(r, bytes32(ORDER - uint256(s)), bytes1(v == 27 ? 28 : 27));
        forms[2] = bytes.concat(r, bytes32(uint256(v - 27) << 255 | uint256(s)));
    }

    function _refused(IVerdictEvaluator.Verdict memory verdict, bytes memory signature) private {
        vm.expectRevert(IVerdictEvaluator.InvalidSignature.selector);
        evaluator.settle(escrow, verdict.jobId, verdict, signature);
        assertEq(usdc.balanceOf(escrow), BUDGET, "the money stays");
    }
}
