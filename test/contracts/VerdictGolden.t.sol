// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {PRBTest} from "@prb/test/PRBTest.sol";

import {VerdictEvaluator} from "../../contracts/VerdictEvaluator.sol";
import {IJobEscrowAdapter} from "../../contracts/interfaces/IJobEscrowAdapter.sol";
import {IVerdictEvaluator} from "../../contracts/interfaces/IVerdictEvaluator.sol";

/// @dev Answers as adapter and as escrow of any job that is submitted to an evaluator.
contract WillingEscrow {
    address private immutable evaluator;
    uint8 private _status = 2;

    constructor(address evaluator_) {
        evaluator = evaluator_;
    }

    function readJob(address, uint256) external view returns (IJobEscrowAdapter.Job memory job) {
        job.evaluator = evaluator;
        job.status = IJobEscrowAdapter.JobStatus(_status);
        job.expiredAt = type(uint256).max;
    }

    function complete(uint256, bytes32, bytes calldata) external {
        _status = 3;
    }

    function reject(uint256, bytes32, bytes calldata) external {
        _status = 4;
    }

    function reset() external {
        _status = 2;
    }
}

/// @dev The same vectors as test/service/chain/verdict-codec.test.ts reads; scripts/generate-golden.ts writes them.
contract VerdictGoldenTest is PRBTest {
    string private json;
    VerdictEvaluator private evaluator;

    function setUp() external {
        json = vm.readFile("test/golden/verdict-eip712.json");
        address[] memory signers = new address[](1);
        signers[0] = vm.parseJsonAddress(json, ".signer");
        vm.prank(vm.parseJsonAddress(json, ".deployer"));
        evaluator = new VerdictEvaluator(address(this), signers);
    }

    function test_TheDomainIsTheSame() external {
        assertEq(address(evaluator), vm.parseJsonAddress(json, ".verifyingContract"), "address");
        assertEq(block.chainid, vm.parseJsonUint(json, ".chainId"), "chain id");
        assertEq(evaluator.domainSeparator(), vm.parseJsonBytes32(json, ".domainSeparator"), "separator");
    }

    function test_DigestsAreTheSame() external {
        uint256 count;
        for (string memory at = _case(0); vm.keyExists(json, at); at = _case(++count)) {
            bytes32 digest = vm.parseJsonBytes32(json, string.concat(at, ".digest"));
            assertEq(evaluator.verdictDigest(_verdictAt(at)), digest, at);
        }
        assertGt(count, 4, "cases");
    }

    function test_SignaturesAreTakenToTheLastSecond() external {
        WillingEscrow willing = new WillingEscrow(address(evaluator));
        uint256 count;
        for (string memory at = _case(0); vm.keyExists(json, at); at = _case(++count)) {
            IVerdictEvaluator.Verdict memory verdict = _verdictAt(at);
            vm.etch(verdict.escrow, address(willing).code);
            WillingEscrow(verdict.escrow).reset();
            evaluator.setEscrow(verdict.escrow, address(verdict.escrow));
            vm.warp(verdict.deadline);
            _bring(verdict, vm.parseJsonBytes(json, string.concat(at, ".signature")));
        }
    }

    function _bring(IVerdictEvaluator.Verdict memory verdict, bytes memory signature) private {
        (address escrow, uint256 jobId) = (verdict.escrow, verdict.jobId);
        if (verdict.decision == 3) {
            evaluator.hold(escrow, jobId, verdict, signature);
            assertEq(evaluator.holdOf(escrow, jobId).evidenceHash, verdict.evidenceHash, "hold");
        } else {
            evaluator.settle(escrow, jobId, verdict, signature);
            assertEq(evaluator.decisionOf(escrow, jobId), verdict.decision, "decision");
        }
    }

    function _verdictAt(string memory at) private view returns (IVerdictEvaluator.Verdict memory verdict) {
        verdict.escrow = vm.parseJsonAddress(json, string.concat(at, ".escrow"));
        verdict.jobId = _uintAt(at, ".jobId");
        verdict.deliverable = vm.parseJsonBytes32(json, string.concat(at, ".deliverable"));
        verdict.specHash = vm.parseJsonBytes32(json, string.concat(at, ".specHash"));
        verdict.decision = uint8(_uintAt(at, ".decision"));
        verdict.score = uint16(_uintAt(at, ".score"));
        verdict.confidenceBps = uint16(_uintAt(at, ".confidenceBps"));
        verdict.evidenceHash = vm.parseJsonBytes32(json, string.concat(at, ".evidenceHash"));
        verdict.issuedAt = uint64(_uintAt(at, ".issuedAt"));
        verdict.deadline = uint64(_uintAt(at, ".deadline"));
    }

    /// @dev The hash that a job's `reason` carries is that of the evidence as it is served, byte for byte.
    function test_HashesOfTextsSpecsAndEvidenceAreTheSame() external {
        string memory hashes = vm.readFile("test/golden/verification-hashes.json");
        _assertHashes(hashes, ".texts", ".text");
        _assertHashes(hashes, ".specs", ".body");
        _assertHashes(hashes, ".evidence", ".body");
    }

    function _assertHashes(string memory hashes, string memory list, string memory member) private {
        uint256 count;
        string memory at = string.concat(list, "[0]");
        while (vm.keyExists(hashes, at)) {
            bytes memory text = bytes(vm.parseJsonString(hashes, string.concat(at, member)));
            assertEq(keccak256(text), vm.parseJsonBytes32(hashes, string.concat(at, ".hash")), at);
            at = string.concat(list, "[", vm.toString(++count), "]");
        }
        assertGt(count, 2, list);
    }

    function _uintAt(string memory at, string memory key) private view returns (uint256) {
        return vm.parseJsonUint(json, string.concat(at, key));
    }

    function _case(uint256 index) private pure returns (string memory) {
        return string.concat(".cases[", vm.toString(index), "]");
    }
}
