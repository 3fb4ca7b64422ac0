// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {ScoreGateHook} from "../../contracts/ScoreGateHook.sol";
import {IACPHook} from "../../contracts/interfaces/IACPHook.sol";
import {IERC165} from "../../contracts/interfaces/IERC165.sol";
import {IJobEscrowAdapter} from "../../contracts/interfaces/IJobEscrowAdapter.sol";
import {IProviderGate} from "../../contracts/interfaces/IProviderGate.sol";
import {IScoreGateHook} from "../../contracts/interfaces/IScoreGateHook.sol";
import {EscrowFixture, OnG1, OnG3, OnV3} from "./escrow/EscrowFixture.sol";
import {ScoreOracle} from "./ScoreOracle.sol";

/// @dev Hands every step on to one hook, as a router of several would.
contract RouterOfTests is IACPHook {
    IACPHook private immutable hook;

    constructor(IACPHook hook_) {
        hook = hook_;
    }

    function beforeAction(uint256 jobId, bytes4 selector, bytes calldata data) external {
        hook.beforeAction(jobId, selector, data);
    }

    function afterAction(uint256 jobId, bytes4 selector, bytes calldata data) external {
        hook.afterAction(jobId, selector, data);
    }

    function supportsInterface(bytes4) external pure returns (bool) {
        return true;
    }
}

/// fund, of a job with the hook
/// ├── the provider is sanctioned → ProviderSanctioned
/// ├── the provider has no record, or too little history
/// │   ├── the hook asks for a score → ProviderUnscored
/// │   └── the hook allows unscored providers → funded
/// ├── the score is older than the hook accepts → ScoreStale
/// ├── the score is too low → ProviderBelowThreshold
/// └── otherwise → funded
abstract contract ScoreGateSuite is EscrowFixture {
    address private constant EVALUATOR = address(0xE3);
    uint8 private constant MIN_SCORE = 60;
    uint256 private constant MAX_AGE = 1 days;

    /// @dev createJob, setBudget, setPayoutReceiver, submit, complete, reject and claimRefund of all generations.
    bytes private constant HARMLESS =
        hex"415288121c226749baf3ede2ef98d864dd4ae9d4f3302b89176a9da79e63798dd75bbdf341dd26f5cd56b1b66be1320b5b7baf64d2fd101b";

    ScoreOracle private scores;
    ScoreGateHook private hook;
    ScoreGateHook private lenient;

    function setUp() public override {
        super.setUp();
        scores = new ScoreOracle();
        hook = _deploy(false);
        lenient = _deploy(true);
        driver.allowHook(address(hook));
        driver.allowHook(address(lenient));
    }

    function _evaluator() internal pure override returns (address) {
        return EVALUATOR;
    }

    function test_FundsAtTheThresholdAndAtTheGreatestAge() external {
        scores.publishScore(PROVIDER, MIN_SCORE, NOW);
        vm.warp(NOW + MAX_AGE);
        uint256 jobId = _funded(address(hook));
        _assertStatus(jobId, IJobEscrowAdapter.JobStatus.Funded);
    }

    function test_RevertWhen_TheScoreIsTooLow() external {
        scores.publishScore(PROVIDER, MIN_SCORE - 1, NOW);
        _refuses(
            hook,
            abi.encodeWithSelector(
                IProviderGate.ProviderBelowThreshold.selector, PROVIDER, MIN_SCORE - 1, MIN_SCORE
            )
        );
    }

    function test_RevertWhen_TheScoreIsStale() external {
        scores.publishScore(PROVIDER, 95, NOW - 1);
        vm.warp(NOW + MAX_AGE);
        bytes memory refusal =
            abi.encodeWithSelector(IProviderGate.ScoreStale.selector, PROVIDER, NOW - 1, MAX_AGE);
        _refuses(hook, refusal);
        // The lenient hook refuses too: an old score does not count as no score.
        _refuses(lenient, refusal);
    }

    function test_RevertWhen_TheProviderIsSanctioned() external {
        scores.publishSanctioned(PROVIDER);
        bytes memory refusal = abi.encodeWithSelector(IScoreGateHook.ProviderSanctioned.selector, PROVIDER);
        _refuses(hook, refusal);
        _refuses(lenient, refusal);
        vm.warp(NOW + MAX_AGE + 1);
        _refuses(lenient, refusal);
    }

    function test_AnUnscoredProviderIsTheConstructorsChoice() external {
        bytes memory refusal = abi.encodeWithSelector(IProviderGate.ProviderUnscored.selector, PROVIDER);
        _refuses(hook, refusal);
        _funded(address(lenient));
        scores.publishInsufficient(PROVIDER, NOW - 3 days);
        _refuses(hook, refusal);
        _funded(address(lenient));
    }

    function test_NothingElseIsGated() external {
        scores.publishScore(PROVIDER, 90, NOW);
        uint256[4] memory jobs;
        for (uint256 i; i < 4; ++i) {
            jobs[i] = _funded(address(hook));
        }
        scores.publishSanctioned(PROVIDER);
        driver.rejectAs(EVALUATOR, jobs[0]);
        for (uint256 i = 1; i < 4; ++i) {
            driver.submit(jobs[i], WORK);
        }
        driver.completeAs(EVALUATOR, jobs[1]);
        driver.rejectAs(EVALUATOR, jobs[2]);
        vm.warp(driver.endOf(jobs[3]));
        driver.claimRefund(jobs[3]);
        assertEq(usdc.balanceOf(escrow()), 0, "all money left the escrow");

        vm.warp(NOW);
        uint256 open = _priced(address(hook));
        driver.rejectAs(CLIENT, open);
        _assertStatus(open, IJobEscrowAdapter.JobStatus.Rejected);
    }

    function test_ItWorksBehindARouter() external {
        RouterOfTests router = new RouterOfTests(hook);
        driver.allowHook(address(router));
        uint256 jobId = _priced(address(router));
        _refusesToFund(jobId, abi.encodeWithSelector(IProviderGate.ProviderUnscored.selector, PROVIDER));
        scores.publishScore(PROVIDER, 90, NOW);
        driver.fund(jobId);
        driver.submit(jobId, WORK);
        driver.completeAs(EVALUATOR, jobId);
    }

    function test_OnlyTheEscrowOrTheJobsRouterCalls() external {
        uint256 jobId = _priced(address(hook));
        bytes4 fund = hook.requiredSelectors()[0];
        bytes memory refusal =
            abi.encodeWithSelector(IProviderGate.NotEscrowOrRouter.selector, STRANGER, jobId);
        vm.startPrank(STRANGER);
        vm.expectRevert(refusal);
        hook.beforeAction(jobId, fund, "");
        vm.expectRevert(refusal);
        hook.afterAction(jobId, fund, "");
    }

    /// @dev The fund selectors of all generations, and whatever else is not known to be harmless.
    function testFuzz_NoSelectorSlipsThroughWhileAJobIsOpen(bytes4 unknown) external {
        uint256 jobId = _priced(address(hook));
        for (uint256 i; i < HARMLESS.length / 4; ++i) {
            vm.assume(unknown != _harmless(i));
        }
        bytes memory refusal = abi.encodeWithSelector(IProviderGate.ProviderUnscored.selector, PROVIDER);
        bytes4[5] memory selectors =
            [bytes4(0xe25ba707), bytes4(0xd2e13f50), bytes4(0x1f989ec8), bytes4(0xa65e2cfd), unknown];
        for (uint256 i; i < 5; ++i) {
            vm.prank(escrow());
            vm.expectRevert(refusal);
            hook.beforeAction(jobId, selectors[i], "");
        }
    }

    function test_WhatLocksNoMoneyUpPassesWhileAJobIsOpen() external {
        uint256 jobId = _priced(address(hook));
        for (uint256 i; i < HARMLESS.length / 4; ++i) {
            vm.prank(escrow());
            hook.beforeAction(jobId, _harmless(i), "");
        }
    }

    /// @dev An authorised or later form of a terminal step has another selector, and must pass as well.
    function testFuzz_NoSelectorIsGatedOnceAJobIsFunded(bytes4 unknown) external {
        uint256 jobId = _priced(address(lenient));
        driver.fund(jobId);
        scores.publishSanctioned(PROVIDER);
        vm.prank(escrow());
        lenient.beforeAction(jobId, unknown, "");
    }

    function test_AProviderThatIsNamedIsGatedByAllItsSelectors() external {
        uint256 jobId = _created(address(hook));
        bytes4[4] memory selectors =
            [bytes4(0xd0fae591), bytes4(0xfac3246c), bytes4(0x2c8b9c5b), bytes4(0xc9a84bb9)];
        for (uint256 i; i < 4; ++i) {
            vm.prank(escrow());
            vm.expectRevert(abi.encodeWithSelector(IProviderGate.ProviderUnscored.selector, PROVIDER));
            hook.afterAction(jobId, selectors[i], "");
        }
    }

    function test_ItSaysWhatItIs() external {
        assertTrue(hook.supportsInterface(type(IERC165).interfaceId), "ERC-165");
        assertTrue(hook.supportsInterface(0x7ff6bc9e), "the hook interface");
        assertTrue(hook.supportsInterface(0xa55e9153), "its metadata");
        assertFalse(hook.supportsInterface(0xffffffff), "not everything");
        assertEq(bytes32(type(IACPHook).interfaceId), bytes32(bytes4(0x7ff6bc9e)));
        (bytes4 fund, bytes4 setProvider) = driver.adapter().gateSelectors();
        bytes4[] memory required = hook.requiredSelectors();
        assertEq(bytes32(required[0]), bytes32(fund));
        assertEq(required.length, setProvider == 0 ? 1 : 2);
        if (setProvider != 0) assertEq(bytes32(required[1]), bytes32(setProvider));
        assertEq(hook.minScore(), MIN_SCORE);
        assertEq(hook.maxAge(), MAX_AGE);
        assertFalse(hook.allowUnscored());
        assertTrue(lenient.allowUnscored());
    }

    function test_RevertWhen_BuiltWithNonsense() external {
        address adapter = address(driver.adapter());
        address oracle = address(scores.oracle());
        address on = escrow();
        vm.expectRevert(IProviderGate.ZeroAddress.selector);
        new ScoreGateHook(address(0), adapter, oracle, 1, 1, false);
        vm.expectRevert(IProviderGate.ZeroAddress.selector);
        new ScoreGateHook(on, address(0), oracle, 1, 1, false);
        vm.expectRevert(IProviderGate.ZeroAddress.selector);
        new ScoreGateHook(on, adapter, address(0), 1, 1, false);
        vm.expectRevert(abi.encodeWithSelector(IScoreGateHook.ScoreAbove100.selector, 101));
        new ScoreGateHook(on, adapter, oracle, 101, 1, false);
        vm.expectRevert(IProviderGate.ZeroMaxAge.selector);
        new ScoreGateHook(on, adapter, oracle, 1, 0, false);
    }

    function _harmless(uint256 index) private pure returns (bytes4) {
        bytes memory all = HARMLESS;
        bytes32 word;
        assembly ("memory-safe") {
            word := mload(add(add(all, 0x20), mul(4, index)))
        }
        return bytes4(word);
    }

    function escrow() internal view returns (address) {
        return driver.escrow();
    }

    function gate() internal view returns (ScoreGateHook) {
        return hook;
    }

    function oracleOfTests() internal view returns (ScoreOracle) {
        return scores;
    }

    function _deploy(bool allowUnscored) private returns (ScoreGateHook) {
        address adapter = address(driver.adapter());
        return
            new ScoreGateHook(escrow(), adapter, address(scores.oracle()), MIN_SCORE, MAX_AGE, allowUnscored);
    }

    function _refuses(ScoreGateHook by, bytes memory refusal) private {
        _refusesToFund(_priced(address(by)), refusal);
    }

    function _refusesToFund(uint256 jobId, bytes memory refusal) private {
        vm.expectRevert(refusal);
        driver.fund(jobId);
        _assertStatus(jobId, IJobEscrowAdapter.JobStatus.Open);
    }
}

contract ScoreGateG1Test is ScoreGateSuite, OnG1 {}

contract ScoreGateG3Test is ScoreGateSuite, OnG3 {
    function test_NamingAProviderIsGatedToo() external {
        uint256 jobId = driver.create(CLIENT, address(0), _evaluator(), NOW + LIFE, address(gate()));
        vm.expectRevert(abi.encodeWithSelector(IProviderGate.ProviderUnscored.selector, PROVIDER));
        driver.setProvider(jobId, PROVIDER);
        assertEq(driver.read(jobId).provider, address(0), "not named");
        oracleOfTests().publishScore(PROVIDER, 90, NOW);
        driver.setProvider(jobId, PROVIDER);
        assertEq(driver.read(jobId).provider, PROVIDER, "named");
    }
}

contract ScoreGateV3Test is ScoreGateSuite, OnV3 {}
