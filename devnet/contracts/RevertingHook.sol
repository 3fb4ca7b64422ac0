// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IACPHook} from "../../contracts/interfaces/IACPHook.sol";
import {IERC165} from "../../contracts/interfaces/IERC165.sol";

/// @notice Hook that reverts with any chosen data, as every hook of a job can. Anyone chooses the data.
contract RevertingHook is IACPHook {
    /// @notice Data of the next reverts; empty accepts every step.
    bytes public revertData;

    /// @notice Sets the data of the next reverts.
    function setRevertData(bytes calldata data) external {
        revertData = data;
    }

    function beforeAction(uint256, bytes4, bytes calldata) external view {
        bytes memory data = revertData;
        if (data.length == 0) return;
        assembly ("memory-safe") {
            revert(add(data, 32), mload(data))
        }
    }

    function afterAction(uint256, bytes4, bytes calldata) external {}

    function supportsInterface(bytes4 interfaceId) external pure returns (bool) {
        return interfaceId == type(IACPHook).interfaceId || interfaceId == type(IERC165).interfaceId;
    }
}
