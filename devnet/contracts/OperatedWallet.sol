// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {SmartWallet} from "./SmartWallet.sol";

/// @notice Smart account that its owner and one ERC-4337 entry point may let act.
/// @dev The local entry point asks for no signature, so any bundler may let it act: for the local chain only.
contract OperatedWallet is SmartWallet {
    address public immutable entryPoint;

    constructor(address owner_, address entryPoint_) SmartWallet(owner_) {
        entryPoint = entryPoint_;
    }

    function _checkCaller() internal view override {
        if (msg.sender != entryPoint) super._checkCaller();
    }
}
