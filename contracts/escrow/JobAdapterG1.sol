// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IJobEscrowAdapter} from "../interfaces/IJobEscrowAdapter.sol";
import {JobHead} from "./JobHead.sol";

/// @dev What `getJob` answers in generation G1; whole for readers off chain.
interface IJobsG1 {
    struct Job {
        uint256 id;
        address client;
        address provider;
        address evaluator;
        string description;
        uint256 budget;
        uint256 expiredAt;
        uint8 status;
        address hook;
    }

    function getJob(uint256 jobId) external view returns (Job memory);
}

/// @title Reads escrows in the shape of the ERC text's own code (generation G1)
contract JobAdapterG1 is IJobEscrowAdapter {
    /// @dev The static part of a job: `description` is where that begins, counted from `id`.
    struct Head {
        uint256 id;
        address client;
        address provider;
        address evaluator;
        uint256 description;
        uint256 budget;
        uint256 expiredAt;
        uint8 status;
        address hook;
    }

    /// @dev Words of the static part.
    uint256 private constant WORDS = 9;

    function readJob(address escrow, uint256 jobId) external view returns (Job memory) {
        (uint256 start, Head memory job) = abi.decode(JobHead.read(escrow, jobId, WORDS + 1), (uint256, Head));
        if (start != 32 || job.description != WORDS * 32) revert OtherGeneration(escrow, jobId);
        if (job.client == address(0) || job.id != jobId) revert UnknownJob(escrow, jobId);
        if (job.status > uint8(JobStatus.Expired)) revert UnknownStatus(escrow, jobId, job.status);
        return Job({
            client: job.client,
            provider: job.provider,
            evaluator: job.evaluator,
            hook: job.hook,
            status: JobStatus(job.status),
            expiredAt: job.expiredAt,
            budget: job.budget
        });
    }

    function gateSelectors() external pure returns (bytes4 fund, bytes4 setProvider) {
        return (bytes4(keccak256("fund(uint256,bytes)")), bytes4(0));
    }
}
