// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {AssuranceAccounts} from "../../contracts/AssuranceAccounts.sol";
import {IAssuranceAccounts} from "../../contracts/interfaces/IAssuranceAccounts.sol";
import {IJobEscrowAdapter} from "../../contracts/interfaces/IJobEscrowAdapter.sol";
import {UsdCoin} from "../../devnet/contracts/UsdCoin.sol";
import {OnG1} from "./escrow/EscrowFixture.sol";
import {AssuranceFixture} from "./AssuranceFixture.sol";

/// @dev A token that calls back before and after each transfer, and refuses transfers to one account.
contract HostileCoin is UsdCoin {
    address private _target;
    bytes private _call;
    address private _blocked;
    uint256 public successes;

    constructor(address owner_) UsdCoin(owner_) {}

    function arm(address target, bytes calldata call) external {
        (_target, _call) = (target, call);
    }

    function blockAccount(address account) external {
        _blocked = account;
    }

    function _beforeTokenTransfer(address, address to, uint256) internal override {
        require(to != _blocked, "Blacklistable: account is blacklisted");
        _callBack();
    }

    function _afterTokenTransfer(address, address, uint256) internal override {
        _callBack();
    }

    function _callBack() private {
        if (_call.length == 0) return;
        (bool ok,) = _target.call(_call);
        if (ok) ++successes;
    }
}

/// @dev An adapter that reports every job as rejected.
contract LyingAdapter is IJobEscrowAdapter {
    function readJob(address, uint256) external view returns (Job memory job) {
        (job.status, job.evaluator) = (JobStatus.Rejected, msg.sender);
    }

    function gateSelectors() external pure returns (bytes4, bytes4) {
        return (0, 0);
    }
}

contract AssuranceHostileTest is AssuranceFixture, OnG1 {
    HostileCoin private coin;

    function setUp() public override {
        super.setUp();
        coin = new HostileCoin(address(this));
        accounts = new AssuranceAccounts(address(coin), address(evaluator));
        coin.mint(PROVIDER, BOND);
        vm.prank(PROVIDER);
        coin.approve(address(accounts), BOND);
        vm.prank(PROVIDER);
        accounts.depositAssurance(BOND);
    }

    function test_ATokenThatCallsBackSlashesOnce() external {
        uint256 jobId = _rejected();
        coin.arm(address(accounts), abi.encodeCall(accounts.slash, (escrow, jobId)));
        accounts.slash(escrow, jobId);
        assertEq(coin.successes(), 0, "calls back");
        assertEq(coin.balanceOf(CLIENT), PART, "client");
        assertEq(coin.balanceOf(address(accounts)), BOND - PART, "held");
    }

    function test_ATokenThatCallsBackReleasesNothingThatIsSlashed() external {
        uint256 jobId = _rejected();
        coin.arm(address(accounts), abi.encodeCall(accounts.releaseCommitment, (escrow, jobId)));
        accounts.slash(escrow, jobId);
        assertEq(coin.successes(), 0, "calls back");
        _assertAccount(BOND - PART, 0, 0, PART);
    }

    /// @dev The token itself is the wallet: it asks for its own money again while that is being sent.
    function test_ATokenThatCallsBackWithdrawsOnce() external {
        coin.mint(address(this), PART);
        coin.approve(address(accounts), PART);
        accounts.depositAssuranceFor(address(coin), PART);
        vm.prank(address(coin));
        accounts.requestWithdrawal(PART);
        vm.warp(NOW + 30 days);
        coin.arm(address(accounts), abi.encodeCall(accounts.withdraw, (STRANGER)));
        vm.prank(address(coin));
        accounts.withdraw(STRANGER);
        assertEq(coin.successes(), 0, "calls back");
        assertEq(coin.balanceOf(STRANGER), PART, "withdrawn");
        assertEq(coin.balanceOf(address(accounts)), BOND, "of others");
    }

    function test_ABlockedClientDelaysOnlyItsOwnPayment() external {
        uint256 blocked = _rejected();
        uint256 other = _rejected();
        coin.blockAccount(CLIENT);
        vm.expectRevert();
        accounts.slash(escrow, blocked);
        coin.blockAccount(STRANGER);
        accounts.slash(escrow, other);
        assertEq(coin.balanceOf(CLIENT), PART, "the other job");
        accounts.slash(escrow, blocked);
        assertEq(coin.balanceOf(CLIENT), 2 * PART, "and later this one");
        _assertAccount(BOND - 2 * PART, 0, 0, 2 * PART);
    }

    /// @dev The owner names an adapter of its own once money is committed; the commitment has its own.
    function test_ALaterAdapterHasNoSayInACommitment() external {
        uint256 jobId = _committed();
        address lying = address(new LyingAdapter());
        vm.prank(OWNER);
        evaluator.setEscrow(escrow, lying);
        vm.expectRevert(abi.encodeWithSelector(IAssuranceAccounts.NotRejected.selector, escrow, jobId, 0, 2));
        accounts.slash(escrow, jobId);
        bytes memory decided = abi.encode(REJECT);
        vm.mockCall(address(evaluator), abi.encodeCall(evaluator.decisionOf, (escrow, jobId)), decided);
        vm.expectRevert(
            abi.encodeWithSelector(IAssuranceAccounts.NotRejected.selector, escrow, jobId, REJECT, 2)
        );
        accounts.slash(escrow, jobId);
    }
}
