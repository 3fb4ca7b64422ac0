// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {OracleFixture} from "./OracleFixture.sol";

/// @dev A cheat code that @prb/test does not know.
interface CoolVm {
    function cool(address target) external;
}

/// @dev What a read costs its caller: the slot cold (2,100), the oracle's account already paid for. Transactions are
/// measured in oracle-gas.test.ts, with their calldata and base cost.
contract OracleReadGasTest is OracleFixture {
    /// @dev A warm CALL itself.
    uint256 private constant CALL = 100;
    uint256 private constant COLD_SLOT = 2100;
    uint256 private constant BAR = 3000;

    /// @dev Fifteen words of answer, and a selector that the compiler tries late.
    uint256 private constant BAR_OF_STATUS_AND_RECORD = 3400;

    /// @dev A selector that the compiler tries late, and the safe amount.
    uint256 private constant BAR_OF_AMOUNT = 3400;

    function setUp() public override {
        super.setUp();
        _publish(HEAD, NOW, _withSafe(_word(WALLET, 88, 0), 6 << 11 | 1929));
    }

    function test_ScoreOfCostsAtMost3000BeyondTheCall() external {
        _assertBar(abi.encodeCall(oracle.scoreOf, (WALLET)), BAR);
    }

    function test_TryScoreOfCostsAtMost3400BeyondTheCall() external {
        _assertBar(abi.encodeCall(oracle.tryScoreOf, (WALLET, 1 days)), BAR_OF_STATUS_AND_RECORD);
    }

    function test_RouteOfCostsAtMost3000BeyondTheCall() external {
        _assertBar(abi.encodeWithSignature("routeOf(address,uint256)", WALLET, 1 days), BAR);
    }

    function test_RouteOfAnAmountCostsAtMost3400BeyondTheCall() external {
        bytes memory call = abi.encodeWithSignature("routeOf(address,uint256,uint256)", WALLET, 1 days, 1e6);
        _assertBar(call, BAR_OF_AMOUNT);
    }

    function test_MeetsThresholdCostsAtMost3000BeyondTheCall() external {
        _assertBar(abi.encodeCall(oracle.meetsThreshold, (WALLET, 75, 1 days)), BAR);
    }

    function _assertBar(bytes memory input, uint256 bar) private {
        CoolVm(address(vm)).cool(address(oracle));
        oracle.owner();
        address target = address(oracle);
        uint256 gasBefore;
        uint256 gasAfter;
        bool ok;
        assembly ("memory-safe") {
            gasBefore := gas()
            ok := staticcall(gas(), target, add(input, 0x20), mload(input), 0, 0)
            gasAfter := gas()
        }
        uint256 beyond = gasBefore - gasAfter - CALL;
        emit LogNamedUint256("gas beyond the call", beyond);
        assertTrue(ok, "the read failed");
        assertGte(beyond, COLD_SLOT, "the slot was not cold");
        assertLte(beyond, bar, "beyond the call");
    }
}
