// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {Ownable} from "solady/auth/Ownable.sol";

/// @notice Sanctions list with the interface and the events of the Chainalysis oracle.
contract SanctionsList is Ownable {
    event SanctionedAddressesAdded(address[] addrs);
    event SanctionedAddressesRemoved(address[] addrs);
    event SanctionedAddress(address indexed addr);
    event NonSanctionedAddress(address indexed addr);

    mapping(address addr => bool sanctioned) private _sanctioned;

    constructor(address owner_) {
        _initializeOwner(owner_);
    }

    /// @notice Lists addresses; owner only.
    function addToSanctionsList(address[] calldata newSanctions) external onlyOwner {
        for (uint256 i; i < newSanctions.length; ++i) {
            _sanctioned[newSanctions[i]] = true;
        }
        emit SanctionedAddressesAdded(newSanctions);
    }

    /// @notice Takes addresses off the list; owner only.
    function removeFromSanctionsList(address[] calldata removeSanctions) external onlyOwner {
        for (uint256 i; i < removeSanctions.length; ++i) {
            _sanctioned[removeSanctions[i]] = false;
        }
        emit SanctionedAddressesRemoved(removeSanctions);
    }

    /// @notice Whether the address is listed now.
    function isSanctioned(address addr) external view returns (bool) {
        return _sanctioned[addr];
    }

    /// @notice Like `isSanctioned`, leaving an event with the answer.
    function isSanctionedVerbose(address addr) external returns (bool) {
        bool listed = _sanctioned[addr];
        if (listed) emit SanctionedAddress(addr);
        else emit NonSanctionedAddress(addr);
        return listed;
    }

    function name() external pure returns (string memory) {
        return "Local sanctions list";
    }
}
