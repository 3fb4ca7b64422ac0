// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {AgentHealthScoreSource} from "../../contracts/AgentHealthScoreSource.sol";
import {ScoreSourceHook} from "../../contracts/ScoreSourceHook.sol";
import {IJobEscrowAdapter} from "../../contracts/interfaces/IJobEscrowAdapter.sol";
import {IProviderGate} from "../../contracts/interfaces/IProviderGate.sol";
import {IScoreSource} from "../../contracts/interfaces/IScoreSource.sol";
import {EscrowFixture, OnG1, OnG3, OnV3} from "./escrow/EscrowFixture.sol";
import {ScoreOracle} from "./ScoreOracle.sol";

/// @dev A vendor with one score for every account, on a scale of its own.
contract SourceOfTests is IScoreSource {
    error Down();

    uint8 private _points;
    uint64 private _updatedAt;
    bool private _down;

    function set(uint8 points, uint64 updatedAt) external {
        (_points, _updatedAt) = (points, updatedAt);
    }

    function fail() external {
        _down = true;
    }

    function score(address) external view returns (uint8, uint64) {
        if (_down) revert Down();
        return (_points, _updatedAt);
    }
}

/// fund, of a job with the hook
/// ├── the source fails → its error
/// ├── the source has no score
/// │   ├── the hook asks for one → ProviderUnscored
/// │   └── the hook allows unscored providers → funded
/// ├── the score is older than the hook accepts → ScoreStale
/// ├── the score is too low → ProviderBelowThreshold
/// └── otherwise → funded
abstract contract ScoreSourceSuite is EscrowFixture {
    uint8 private constant MIN_SCORE = 200;
    uint256 private constant MAX_AGE = 1 days;

    SourceOfTests private source;
    ScoreSourceHook private hook;

    function setUp() public override {
        super.setUp();
        source = new SourceOfTests();
        hook = _deploy(source, MIN_SCORE, false);
    }

    function _evaluator() internal pure override returns (address) {
        return address(0xE3);
    }

    function test_FundsAtTheThresholdAndAtTheGreatestAge() external {
        source.set(MIN_SCORE, NOW);
        vm.warp(NOW + MAX_AGE);
        _assertStatus(_funded(address(hook)), IJobEscrowAdapter.JobStatus.Funded);
    }

    function test_AScoreOfTheFutureHasNoAge() external {
        source.set(MIN_SCORE, type(uint64).max);
        _funded(address(hook));
    }

    function test_RevertWhen_TheScoreIsTooLow() external {
        source.set(MIN_SCORE - 1, NOW);
        _refuses(
            abi.encodeWithSelector(
                IProviderGate.ProviderBelowThreshold.selector, PROVIDER, MIN_SCORE - 1, MIN_SCORE
            )
        );
    }

    function test_RevertWhen_TheScoreIsStale() external {
        source.set(MIN_SCORE, NOW - 1);
        vm.warp(NOW + MAX_AGE);
        _refuses(abi.encodeWithSelector(IProviderGate.ScoreStale.selector, PROVIDER, NOW - 1, MAX_AGE));
    }

    function test_AnUnscoredProviderIsTheConstructorsChoice() external {
        source.set(MIN_SCORE, 0);
        _refuses(abi.encodeWithSelector(IProviderGate.ProviderUnscored.selector, PROVIDER));
        _funded(address(_deploy(source, MIN_SCORE, true)));
    }

    function test_AFailingSourceStopsNoJobThatIsFunded() external {
        source.set(MIN_SCORE, NOW);
        uint256 jobId = _funded(address(hook));
        source.fail();
        driver.submit(jobId, WORK);
        driver.completeAs(_evaluator(), jobId);
        _refuses(abi.encodeWithSelector(SourceOfTests.Down.selector));
    }

    /// @dev Against the definition, in whole numbers.
    function testFuzz_RequiresAFreshScoreOfAtLeastTheMinimum(uint8 points, uint64 updatedAt, bool lenient)
        external
    {
        source.set(points, updatedAt);
        bool unscored = updatedAt == 0;
        bool fresh = uint256(updatedAt) + MAX_AGE >= block.timestamp;
        bool acceptable = unscored ? lenient : fresh && points >= MIN_SCORE;
        ScoreSourceHook asked = _deploy(source, MIN_SCORE, lenient);
        if (!acceptable) vm.expectRevert();
        asked.requireAcceptable(PROVIDER);
    }

    function test_ReadsAgentHealthAsAnySource() external {
        ScoreOracle scores = new ScoreOracle();
        AgentHealthScoreSource health = new AgentHealthScoreSource(scores.oracle());
        ScoreSourceHook gate = _deploy(health, 60, false);
        ScoreSourceHook lowest = _deploy(health, 1, false);
        _assertScore(health, 0, 0);
        scores.publishInsufficient(PROVIDER, NOW);
        _assertScore(health, 0, 0);
        scores.publishScore(PROVIDER, 75, NOW);
        _assertScore(health, 75, NOW);
        gate.requireAcceptable(PROVIDER);
        scores.publishSanctioned(PROVIDER);
        _assertScore(health, 0, NOW);
        vm.expectRevert(
            abi.encodeWithSelector(IProviderGate.ProviderBelowThreshold.selector, PROVIDER, 0, 60)
        );
        gate.requireAcceptable(PROVIDER);
        vm.expectRevert(abi.encodeWithSelector(IProviderGate.ProviderBelowThreshold.selector, PROVIDER, 0, 1));
        lowest.requireAcceptable(PROVIDER);
    }

    function test_RevertWhen_BuiltWithNonsense() external {
        address adapter = address(driver.adapter());
        address on = driver.escrow();
        vm.expectRevert(IProviderGate.ZeroAddress.selector);
        new ScoreSourceHook(on, adapter, IScoreSource(address(0)), 1, 1, false);
        vm.expectRevert(ScoreSourceHook.ZeroMinScore.selector);
        new ScoreSourceHook(on, adapter, source, 0, 1, false);
        vm.expectRevert(IProviderGate.ZeroMaxAge.selector);
        new ScoreSourceHook(on, adapter, source, 1, 0, false);
    }

    function _deploy(IScoreSource from, uint8 minScore, bool allowUnscored)
        private
        returns (ScoreSourceHook made)
    {
        made = new ScoreSourceHook(
            driver.escrow(), address(driver.adapter()), from, minScore, MAX_AGE, allowUnscored
        );
        driver.allowHook(address(made));
    }

    function _assertScore(IScoreSource from, uint8 points, uint64 updatedAt) private {
        (uint8 answered, uint64 at) = from.score(PROVIDER);
        assertEq(answered, points, "score");
        assertEq(at, updatedAt, "time");
    }

    function _refuses(bytes memory refusal) private {
        uint256 jobId = _priced(address(hook));
        vm.expectRevert(refusal);
        driver.fund(jobId);
        _assertStatus(jobId, IJobEscrowAdapter.JobStatus.Open);
    }
}

contract ScoreSourceG1Test is ScoreSourceSuite, OnG1 {}

contract ScoreSourceG3Test is ScoreSourceSuite, OnG3 {}

contract ScoreSourceV3Test is ScoreSourceSuite, OnV3 {}
