// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {AssuranceAccounts} from "../../contracts/AssuranceAccounts.sol";
import {IAssuranceAccounts} from "../../contracts/interfaces/IAssuranceAccounts.sol";
import {VerdictFixture} from "./VerdictFixture.sol";

/// @dev Accounts beside the suite's evaluator and escrow; the provider has a bond.
abstract contract AssuranceFixture is VerdictFixture {
    uint256 internal constant BOND = 500e6;
    uint256 internal constant PART = 200e6;

    IAssuranceAccounts internal accounts;

    function setUp() public virtual override {
        super.setUp();
        accounts = new AssuranceAccounts(address(usdc), address(evaluator));
        _deposit(PROVIDER, BOND);
    }

    function _deposit(address wallet, uint256 amount) internal {
        usdc.mint(wallet, amount);
        vm.prank(wallet);
        usdc.approve(address(accounts), amount);
        vm.prank(wallet);
        accounts.depositAssurance(amount);
    }

    function _commit(uint256 jobId, uint256 amount) internal {
        vm.prank(PROVIDER);
        accounts.commitToJob(escrow, jobId, amount);
    }

    /// @dev A submitted job that a part of the bond is committed to.
    function _committed() internal returns (uint256 jobId) {
        jobId = _submitted();
        _commit(jobId, PART);
    }

    function _rejected() internal returns (uint256 jobId) {
        jobId = _committed();
        _settle(_verdict(jobId, REJECT));
    }

    function _assertAccount(uint256 available, uint256 locked, uint256 unbonding, uint256 paidOut) internal {
        IAssuranceAccounts.Account memory account = accounts.getAssuranceAccount(PROVIDER);
        assertEq(account.available, available, "available");
        assertEq(account.locked, locked, "locked");
        assertEq(account.unbonding, unbonding, "unbonding");
        assertEq(account.paidOut, paidOut, "paid out");
        assertEq(account.unbondedAt != 0, unbonding != 0, "unbonded at");
    }

    function _expectAccountsEvent() internal {
        vm.expectEmit({
            checkTopic1: true,
            checkTopic2: true,
            checkTopic3: true,
            checkData: true,
            emitter: address(accounts)
        });
    }
}
