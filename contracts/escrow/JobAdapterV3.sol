// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IJobEscrowAdapter} from "../interfaces/IJobEscrowAdapter.sol";

/// @dev What `getJob` answers in Virtuals' AgenticCommerceV3: no id.
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
    function readJob(address escrow, uint256 jobId) external view returns (Job memory) {
        IJobsV3.Job memory job = IJobsV3(escrow).getJob(jobId);
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
