// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IACPHook} from "../../../contracts/interfaces/IACPHook.sol";

/// @dev Records the calls of the escrow, and reverts them while `blocking` is set.
contract HookOfTests is IACPHook {
    bytes4[] public seen;
    bytes public lastData;
    bool public blocking;

    function block_(bool blocking_) external {
        blocking = blocking_;
    }

    function beforeAction(uint256, bytes4 selector, bytes calldata data) external {
        require(!blocking, "hook says no");
        seen.push(selector);
        lastData = data;
    }

    function afterAction(uint256, bytes4 selector, bytes calldata data) external {
        seen.push(selector);
        lastData = data;
    }

    function supportsInterface(bytes4 interfaceId) external pure returns (bool) {
        return interfaceId == type(IACPHook).interfaceId;
    }

    function count() external view returns (uint256) {
        return seen.length;
    }
}
