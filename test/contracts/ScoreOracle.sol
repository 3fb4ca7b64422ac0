// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {Vm} from "@prb/test/Vm.sol";

import {IAgentHealthOracle} from "../../contracts/interfaces/IAgentHealthOracle.sol";

/// @dev The real oracle with one publisher, who says what a test needs of a wallet.
contract ScoreOracle {
    Vm private constant vm = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));

    IAgentHealthOracle public immutable oracle;
    uint64 private _asOf;

    constructor() {
        bytes memory code = vm.getCode("AgentHealthOracle.sol:AgentHealthOracle");
        address[] memory signers = new address[](0);
        code = bytes.concat(code, abi.encode(address(this), address(this), signers, address(this), 0));
        address deployed;
        assembly ("memory-safe") {
            deployed := create(0, add(code, 0x20), mload(code))
        }
        require(deployed != address(0), "the oracle was not deployed");
        oracle = IAgentHealthOracle(deployed);
    }

    function publishScore(address wallet, uint8 score, uint64 asOfTime) external {
        _publish(wallet, score, 0, 0, asOfTime);
    }

    /// @param safe The code of a safe amount.
    function publishBacked(address wallet, uint8 score, uint16 safe, uint64 asOfTime) external {
        _publish(wallet, score, 0, safe, asOfTime);
    }

    function publishSanctioned(address wallet) external {
        _publish(wallet, 0, 1, 0, uint64(block.timestamp));
    }

    function publishInsufficient(address wallet, uint64 asOfTime) external {
        _publish(wallet, 0, 2, 0, asOfTime);
    }

    /// @dev Every record is of a later block than the one before.
    function _publish(address wallet, uint256 score, uint256 flags, uint256 safe, uint64 asOfTime) private {
        vm.roll(++_asOf);
        bytes32[] memory words = new bytes32[](1);
        words[0] = bytes32(
            uint256(uint160(wallet)) << 96 | score << 88 | score << 80 | score << 72 | uint256(9000) << 56
                | flags << 48 | uint256(20260) << 32 | safe << 16
        );
        oracle.publish(_asOf, asOfTime, words);
    }
}
