// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IJobEscrowAdapter} from "../interfaces/IJobEscrowAdapter.sol";
import {JobHead} from "./JobHead.sol";

/// @dev What `getJob` answers in Virtuals' AgenticCommerceV3: no id; whole for readers off chain.
interface IJobsV3 {
    struct Job {
        address client;
        uint8 status;
        address provider;
        uint48 expiredAt;
        address evaluator;
        address hook;
        uint256 budget;
        string description;
    }

    function getJob(uint256 jobId) external view returns (Job memory);
}

/// @title Reads escrows in the shape of Virtuals' AgenticCommerceV3
contract JobAdapterV3 is IJobEscrowAdapter {
    /// @dev The static part of a job: `description` is where that begins, counted from `client`.
    struct Head {
        address client;
        uint8 status;
        address provider;
        uint48 expiredAt;
        address evaluator;
        address hook;
        uint256 budget;
        uint256 description;
    }

    /// @dev Words of the static part.
    uint256 private constant WORDS = 8;

    function readJob(address escrow, uint256 jobId) external view returns (Job memory) {
        (uint256 start, Head memory job) = abi.decode(JobHead.read(escrow, jobId, WORDS + 1), (uint256, Head));
        if (start != 32 || job.description != WORDS * 32) revert OtherGeneration(escrow, jobId);
        if (job.client == address(0)) revert UnknownJob(escrow, jobId);
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
        return (bytes4(keccak256("fund(uint256,uint256,bytes)")), bytes4(0));
    }
}
