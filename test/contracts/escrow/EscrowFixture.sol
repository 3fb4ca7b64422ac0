// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {PRBTest} from "@prb/test/PRBTest.sol";

import {IJobEscrowAdapter} from "../../../contracts/interfaces/IJobEscrowAdapter.sol";
import {UsdCoin} from "../../../devnet/contracts/UsdCoin.sol";
import {DriverG1, DriverG3, DriverV3, EscrowDriver} from "./EscrowDriver.sol";

/// @dev Which generation a suite runs on.
abstract contract Generation {
    function _driver(UsdCoin usdc) internal virtual returns (EscrowDriver);
}

/// @dev One escrow at a fixed time.
abstract contract EscrowFixture is PRBTest, Generation {
    uint64 internal constant NOW = 1_790_000_000;
    uint256 internal constant LIFE = 4 days;
    uint256 internal constant BUDGET = 100e6;
    bytes32 internal constant WORK = keccak256("work");
    bytes32 internal constant REASON = keccak256("reason");
    address internal constant CLIENT = address(0xC1);
    address internal constant PROVIDER = address(0xB2);
    address internal constant STRANGER = address(0x5717);

    UsdCoin internal usdc;
    EscrowDriver internal driver;

    function setUp() public virtual {
        vm.warp(NOW);
        usdc = new UsdCoin(address(this));
        driver = _driver(usdc);
    }

    /// @dev Who may end the jobs of the suite.
    function _evaluator() internal view virtual returns (address);

    function _created(address hook) internal returns (uint256) {
        return driver.create(CLIENT, PROVIDER, _evaluator(), NOW + LIFE, hook);
    }

    function _priced(address hook) internal returns (uint256 jobId) {
        jobId = _created(hook);
        driver.setBudget(jobId, BUDGET);
    }

    function _funded(address hook) internal returns (uint256 jobId) {
        jobId = _priced(hook);
        driver.fund(jobId);
    }

    function _submitted(address hook) internal returns (uint256 jobId) {
        jobId = _funded(hook);
        driver.submit(jobId, WORK);
    }

    function _submitted() internal returns (uint256) {
        return _submitted(address(0));
    }

    function _assertStatus(uint256 jobId, IJobEscrowAdapter.JobStatus expected) internal {
        assertEq(uint256(driver.statusOf(jobId)), uint256(expected), "status");
    }
}

abstract contract OnG1 is Generation {
    function _driver(UsdCoin usdc) internal override returns (EscrowDriver) {
        return new DriverG1(usdc);
    }
}

abstract contract OnG3 is Generation {
    function _driver(UsdCoin usdc) internal override returns (EscrowDriver) {
        return new DriverG3(usdc);
    }
}

abstract contract OnV3 is Generation {
    function _driver(UsdCoin usdc) internal override returns (EscrowDriver) {
        return new DriverV3(usdc);
    }
}
