// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {PRBTest} from "@prb/test/PRBTest.sol";

import {VerdictEvaluator} from "../../../contracts/VerdictEvaluator.sol";
import {UsdCoin} from "../../../devnet/contracts/UsdCoin.sol";
import {DriverG1, DriverG3, DriverV3, EscrowDriver} from "./EscrowDriver.sol";

/// @dev One evaluator of an escrow of each generation, at a fixed time.
abstract contract AllGenerations is PRBTest {
    uint256 internal constant SIGNER_KEY = 0x51;

    UsdCoin internal usdc;
    VerdictEvaluator internal evaluator;

    function _deployAll() internal returns (EscrowDriver[3] memory drivers) {
        vm.warp(1_790_000_000);
        usdc = new UsdCoin(address(this));
        address[] memory signers = new address[](1);
        signers[0] = vm.addr(SIGNER_KEY);
        evaluator = new VerdictEvaluator(address(this), signers);
        drivers = [EscrowDriver(new DriverG1(usdc)), new DriverG3(usdc), new DriverV3(usdc)];
        for (uint256 i; i < 3; ++i) {
            evaluator.setEscrow(drivers[i].escrow(), address(drivers[i].adapter()));
        }
    }
}
