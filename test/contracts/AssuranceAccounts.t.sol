// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {AssuranceAccounts} from "../../contracts/AssuranceAccounts.sol";
import {IAssuranceAccounts} from "../../contracts/interfaces/IAssuranceAccounts.sol";
import {OnG1} from "./escrow/EscrowFixture.sol";
import {AssuranceFixture} from "./AssuranceFixture.sol";

/// depositAssurance, depositAssuranceFor
/// ├── nothing → ZeroAmount; for no wallet → ZeroAddress; without allowance → reverts
/// └── otherwise it is available to the wallet, from any payer
/// requestWithdrawal
/// ├── nothing → ZeroAmount; more than is available → AboveAvailable
/// └── otherwise it unbonds, and the delay begins again for what was unbonding
/// cancelWithdrawal, withdraw
/// ├── nothing unbonds → NothingUnbonding
/// ├── before the delay → StillUnbonding
/// └── otherwise it is available, or with the receiver
contract AssuranceAccountsTest is AssuranceFixture, OnG1 {
    function test_RevertWhen_AConstructorsContractHasNoCode() external {
        vm.expectRevert(abi.encodeWithSelector(IAssuranceAccounts.NoCode.selector, STRANGER));
        new AssuranceAccounts(STRANGER, address(evaluator));
        vm.expectRevert(abi.encodeWithSelector(IAssuranceAccounts.NoCode.selector, STRANGER));
        new AssuranceAccounts(address(usdc), STRANGER);
    }

    function test_ADepositIsAvailableToTheWalletWhoeverPaid() external {
        usdc.mint(STRANGER, 7e6);
        vm.prank(STRANGER);
        usdc.approve(address(accounts), 7e6);
        _expectAccountsEvent();
        emit IAssuranceAccounts.AssuranceDeposited(PROVIDER, STRANGER, 7e6, BOND + 7e6);
        vm.prank(STRANGER);
        accounts.depositAssuranceFor(PROVIDER, 7e6);
        _assertAccount(BOND + 7e6, 0, 0, 0);
        vm.expectRevert(abi.encodeWithSelector(IAssuranceAccounts.AboveAvailable.selector, 1, 0));
        vm.prank(STRANGER);
        accounts.requestWithdrawal(1);
    }

    function test_RevertWhen_ADepositIsOfNothingForNoWalletOrNotAllowed() external {
        vm.expectRevert(abi.encodeWithSelector(IAssuranceAccounts.ZeroAmount.selector));
        accounts.depositAssurance(0);
        vm.expectRevert(abi.encodeWithSelector(IAssuranceAccounts.ZeroAddress.selector));
        accounts.depositAssuranceFor(address(0), 1);
        vm.expectRevert();
        accounts.depositAssurance(1);
    }

    function test_AWithdrawalTakesItsDelayAndGoesWhereTheWalletSays() external {
        vm.prank(PROVIDER);
        accounts.requestWithdrawal(BOND);
        _assertAccount(0, 0, BOND, 0);
        uint256 unbondedAt = NOW + accounts.UNBONDING_DELAY();

        vm.warp(unbondedAt - 1);
        vm.expectRevert(
            abi.encodeWithSelector(IAssuranceAccounts.StillUnbonding.selector, unbondedAt, unbondedAt - 1)
        );
        vm.prank(PROVIDER);
        accounts.withdraw(PROVIDER);

        vm.warp(unbondedAt);
        _expectAccountsEvent();
        emit IAssuranceAccounts.AssuranceWithdrawn(PROVIDER, STRANGER, BOND);
        vm.prank(PROVIDER);
        accounts.withdraw(STRANGER);
        assertEq(usdc.balanceOf(STRANGER), BOND, "receiver");
        _assertAccount(0, 0, 0, 0);
        _refusesToWithdraw(abi.encodeWithSelector(IAssuranceAccounts.NothingUnbonding.selector, PROVIDER));
    }

    function test_ASecondRequestBeginsTheDelayAgainForAll() external {
        vm.prank(PROVIDER);
        accounts.requestWithdrawal(1);
        vm.warp(NOW + 29 days);
        vm.prank(PROVIDER);
        accounts.requestWithdrawal(2);
        _assertAccount(BOND - 3, 0, 3, 0);
        vm.warp(NOW + 58 days);
        _refusesToWithdraw(
            abi.encodeWithSelector(IAssuranceAccounts.StillUnbonding.selector, NOW + 59 days, NOW + 58 days)
        );
    }

    function test_ACancelledWithdrawalIsAvailableAgain() external {
        vm.prank(PROVIDER);
        accounts.requestWithdrawal(PART);
        vm.prank(PROVIDER);
        accounts.cancelWithdrawal();
        _assertAccount(BOND, 0, 0, 0);
        vm.expectRevert(abi.encodeWithSelector(IAssuranceAccounts.NothingUnbonding.selector, PROVIDER));
        vm.prank(PROVIDER);
        accounts.cancelWithdrawal();
    }

    function test_RevertWhen_ARequestIsOfNothingOrOfMoreThanIsAvailable() external {
        vm.expectRevert(abi.encodeWithSelector(IAssuranceAccounts.ZeroAmount.selector));
        vm.prank(PROVIDER);
        accounts.requestWithdrawal(0);
        _committed();
        uint256 rest = BOND - PART;
        vm.expectRevert(abi.encodeWithSelector(IAssuranceAccounts.AboveAvailable.selector, rest + 1, rest));
        vm.prank(PROVIDER);
        accounts.requestWithdrawal(rest + 1);
    }

    function test_RevertWhen_AWithdrawalGoesNowhere() external {
        vm.expectRevert(abi.encodeWithSelector(IAssuranceAccounts.ZeroAddress.selector));
        vm.prank(PROVIDER);
        accounts.withdraw(address(0));
    }

    /// @dev Neither the evaluator's owner nor its signer, nor the escrow: no role has a way to the money.
    function testFuzz_NoOtherAccountWithdraws(address other) external {
        vm.assume(other != PROVIDER && other != address(0));
        vm.prank(PROVIDER);
        accounts.requestWithdrawal(BOND);
        vm.warp(NOW + 31 days);
        vm.expectRevert(abi.encodeWithSelector(IAssuranceAccounts.NothingUnbonding.selector, other));
        vm.prank(other);
        accounts.withdraw(other);
        vm.expectRevert(abi.encodeWithSelector(IAssuranceAccounts.NothingUnbonding.selector, other));
        vm.prank(other);
        accounts.cancelWithdrawal();
        _assertAccount(0, 0, BOND, 0);
    }

    function testFuzz_NoPartIsLostBetweenTheStates(uint96 deposited, uint96 requested) external {
        vm.assume(deposited > 0 && deposited < type(uint96).max - BOND);
        _deposit(PROVIDER, deposited);
        uint256 all = BOND + deposited;
        uint256 part = 1 + uint256(requested) % all;
        vm.prank(PROVIDER);
        accounts.requestWithdrawal(part);
        _assertAccount(all - part, 0, part, 0);
        vm.warp(NOW + 30 days);
        vm.prank(PROVIDER);
        accounts.withdraw(PROVIDER);
        _assertAccount(all - part, 0, 0, 0);
        assertEq(usdc.balanceOf(PROVIDER), part, "withdrawn");
        assertEq(usdc.balanceOf(address(accounts)), all - part, "held");
    }

    function _refusesToWithdraw(bytes memory reason) private {
        vm.expectRevert(reason);
        vm.prank(PROVIDER);
        accounts.withdraw(PROVIDER);
    }
}
