// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {ERC20} from "solady/tokens/ERC20.sol";

/// @notice Token that strangers drop into wallets and that its holders can never move.
contract SpamToken is ERC20 {
    error ClaimOnWebsiteFirst();

    /// @notice Drops `amount` into every wallet of the list; anyone may call it.
    function airdrop(address[] calldata recipients, uint256 amount) external {
        for (uint256 i; i < recipients.length; ++i) {
            _mint(recipients[i], amount);
        }
    }

    function name() public pure override returns (string memory) {
        return "Visit claim-reward.example";
    }

    function symbol() public pure override returns (string memory) {
        return "CLAIM";
    }

    function _beforeTokenTransfer(address from, address, uint256) internal pure override {
        if (from != address(0)) revert ClaimOnWebsiteFirst();
    }
}
