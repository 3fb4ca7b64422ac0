// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {PRBTest} from "@prb/test/PRBTest.sol";

import {JobAdapterG1} from "../../../contracts/escrow/JobAdapterG1.sol";
import {JobAdapterG3} from "../../../contracts/escrow/JobAdapterG3.sol";
import {JobAdapterV3} from "../../../contracts/escrow/JobAdapterV3.sol";
import {IACPHook} from "../../../contracts/interfaces/IACPHook.sol";
import {IJobEscrow} from "../../../contracts/interfaces/IJobEscrow.sol";
import {IJobEscrowAdapter} from "../../../contracts/interfaces/IJobEscrowAdapter.sol";
import {JobEscrow} from "../../../devnet/contracts/JobEscrow.sol";
import {JobEscrowG3} from "../../../devnet/contracts/JobEscrowG3.sol";
import {JobEscrowV3} from "../../../devnet/contracts/JobEscrowV3.sol";

/// @dev Selectors and topics as they were seen on the contracts of each generation: the fixtures must not drift.
contract EscrowAbiTest is PRBTest {
    bytes32 private constant SUBMITTED = 0x80c17db79857f338a6a6df68a6883ecc0ce78e2202fe61ed979733573f40538e;
    bytes32 private constant COMPLETED = 0x0fd54bd364fa9e67f17b091aefe930932c09fe7651cf5ad02c71a418f3341444;
    bytes32 private constant REJECTED = 0xae7362b1af91f4492868987b9c73990d780060811551b58728fbe96fd1bab275;

    function test_WhatAllGenerationsShare() external {
        _assertSelector(IJobEscrow.complete.selector, 0xd75bbdf3);
        _assertSelector(IJobEscrow.reject.selector, 0x41dd26f5);
        _assertSelector(IACPHook.beforeAction.selector, 0xdc08fb1d);
        _assertSelector(IACPHook.afterAction.selector, 0xa3fe4783);
        _assertShared(
            [
                JobEscrow.submit.selector,
                JobEscrow.complete.selector,
                JobEscrow.reject.selector,
                JobEscrow.getJob.selector
            ]
        );
        _assertShared(
            [
                JobEscrowG3.submit.selector,
                JobEscrowG3.complete.selector,
                JobEscrowG3.reject.selector,
                JobEscrowG3.getJob.selector
            ]
        );
        _assertShared(
            [
                JobEscrowV3.submit.selector,
                JobEscrowV3.complete.selector,
                JobEscrowV3.reject.selector,
                JobEscrowV3.getJob.selector
            ]
        );
    }

    function test_TheEventsThatAllGenerationsShare() external {
        bytes32[3] memory topics = [SUBMITTED, COMPLETED, REJECTED];
        bytes32[3][3] memory ours = [
            [
                JobEscrow.JobSubmitted.selector,
                JobEscrow.JobCompleted.selector,
                JobEscrow.JobRejected.selector
            ],
            [
                JobEscrowG3.JobSubmitted.selector,
                JobEscrowG3.JobCompleted.selector,
                JobEscrowG3.JobRejected.selector
            ],
            [
                JobEscrowV3.JobSubmitted.selector,
                JobEscrowV3.JobCompleted.selector,
                JobEscrowV3.JobRejected.selector
            ]
        ];
        for (uint256 i; i < 9; ++i) {
            assertEq(ours[i / 3][i % 3], topics[i % 3]);
        }
    }

    function test_FourBytesOfTheOtherCommonTopics() external {
        bytes4[5] memory topics = [
            bytes4(0xe3fbcc1e), bytes4(0x97237956), bytes4(0x21d71db5), bytes4(0x253dd534), bytes4(0x7ca5472b)
        ];
        bytes32[5][3] memory ours = [
            [
                JobEscrow.JobFunded.selector,
                JobEscrow.JobExpired.selector,
                JobEscrow.PaymentReleased.selector,
                JobEscrow.EvaluatorFeePaid.selector,
                JobEscrow.Refunded.selector
            ],
            [
                JobEscrowG3.JobFunded.selector,
                JobEscrowG3.JobExpired.selector,
                JobEscrowG3.PaymentReleased.selector,
                JobEscrowG3.EvaluatorFeePaid.selector,
                JobEscrowG3.Refunded.selector
            ],
            [
                JobEscrowV3.JobFunded.selector,
                JobEscrowV3.JobExpired.selector,
                JobEscrowV3.PaymentReleased.selector,
                JobEscrowV3.EvaluatorFeePaid.selector,
                JobEscrowV3.Refunded.selector
            ]
        ];
        for (uint256 i; i < 15; ++i) {
            _assertSelector(bytes4(ours[i / 5][i % 5]), topics[i % 5]);
        }
    }

    function test_WhatG1HasOfItsOwn() external {
        _assertSelector(JobEscrow.createJob.selector, 0x41528812);
        _assertSelector(JobEscrow.setProvider.selector, 0xd0fae591);
        _assertSelector(JobEscrow.setBudget.selector, 0xdd4ae9d4);
        _assertSelector(JobEscrow.fund.selector, 0xe25ba707);
        _assertSelector(JobEscrow.claimRefund.selector, 0x5b7baf64);
        _assertSelector(bytes4(JobEscrow.JobCreated.selector), 0xb0f0239b);
        _assertSelector(bytes4(JobEscrow.ProviderSet.selector), 0x9a87df07);
        _assertSelector(bytes4(JobEscrow.BudgetSet.selector), 0x869e2577);
    }

    function test_WhatG3HasOfItsOwn() external {
        _assertSelector(
            bytes4(keccak256("createJob(address,address,uint48,string,address,uint256)")), 0xbaf3ede2
        );
        _assertSelector(
            bytes4(keccak256("createJob(address,address,uint48,string,address,uint256,bytes)")), 0xef98d864
        );
        _assertSelector(JobEscrowG3.setProvider.selector, 0x2c8b9c5b);
        _assertSelector(JobEscrowG3.setBudget.selector, 0xf3302b89);
        _assertSelector(JobEscrowG3.fund.selector, 0x1f989ec8);
        _assertSelector(JobEscrowG3.claimRefund.selector, 0xd2fd101b);
        _assertSelector(bytes4(JobEscrowG3.JobCreated.selector), 0x834a72f1);
        _assertSelector(bytes4(JobEscrowG3.BudgetSet.selector), 0x74f37e24);
    }

    function test_WhatV3HasOfItsOwn() external {
        _assertSelector(JobEscrowV3.createJob.selector, 0x41528812);
        _assertSelector(JobEscrowV3.setProvider.selector, 0xd0fae591);
        _assertSelector(JobEscrowV3.setBudget.selector, 0xdd4ae9d4);
        _assertSelector(JobEscrowV3.fund.selector, 0xd2e13f50);
        _assertSelector(JobEscrowV3.claimRefund.selector, 0x5b7baf64);
        _assertSelector(bytes4(JobEscrowV3.JobCreated.selector), 0xb0f0239b);
    }

    function test_TheAdaptersNameTheSelectorsOfTheirGeneration() external {
        _assertGate(new JobAdapterG1(), JobEscrow.fund.selector, 0);
        _assertGate(new JobAdapterG3(), JobEscrowG3.fund.selector, JobEscrowG3.setProvider.selector);
        _assertGate(new JobAdapterV3(), JobEscrowV3.fund.selector, 0);
    }

    function _assertGate(IJobEscrowAdapter adapter, bytes4 fund, bytes4 setProvider) private {
        (bytes4 itsFund, bytes4 itsSetProvider) = adapter.gateSelectors();
        _assertSelector(itsFund, fund);
        _assertSelector(itsSetProvider, setProvider);
    }

    function _assertShared(bytes4[4] memory ours) private {
        _assertSelector(ours[0], 0x9e63798d);
        _assertSelector(ours[1], 0xd75bbdf3);
        _assertSelector(ours[2], 0x41dd26f5);
        _assertSelector(ours[3], 0xbf22c457);
    }

    function _assertSelector(bytes4 actual, bytes4 expected) private {
        assertEq(bytes32(actual), bytes32(expected));
    }
}
