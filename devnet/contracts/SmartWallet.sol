// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {SignatureCheckerLib} from "solady/utils/SignatureCheckerLib.sol";

/// @notice Smart account with one owner, whose signatures it accepts as its own (ERC-1271).
contract SmartWallet {
    struct Call {
        address to;
        uint256 value;
        bytes data;
    }

    event Executed(address indexed to, uint256 value, bytes4 selector);

    error NotOwner(address caller);

    bytes4 private constant ERC1271_MAGIC = 0x1626ba7e;
    bytes4 private constant ERC1271_REFUSED = 0xffffffff;

    address public immutable owner;

    constructor(address owner_) {
        owner = owner_;
    }

    receive() external payable {}

    /// @notice Makes one call; owner only; a failing call reverts with its own reason.
    function execute(address to, uint256 value, bytes calldata data) external payable returns (bytes memory) {
        _checkCaller();
        return _execute(to, value, data);
    }

    /// @notice Makes the calls in order, all or none; owner only.
    function executeBatch(Call[] calldata calls) external payable {
        _checkCaller();
        for (uint256 i; i < calls.length; ++i) {
            _execute(calls[i].to, calls[i].value, calls[i].data);
        }
    }

    /// @notice ERC-1271: valid when the owner signed the hash.
    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        bool valid = SignatureCheckerLib.isValidSignatureNowCalldata(owner, hash, signature);
        return valid ? ERC1271_MAGIC : ERC1271_REFUSED;
    }

    /// @notice ERC-721 receiver, so that the account can own an agent.
    function onERC721Received(address, address, uint256, bytes calldata) external pure returns (bytes4) {
        return this.onERC721Received.selector;
    }

    function _execute(address to, uint256 value, bytes calldata data) private returns (bytes memory) {
        (bool ok, bytes memory result) = to.call{value: value}(data);
        if (!ok) {
            assembly {
                revert(add(result, 0x20), mload(result))
            }
        }
        emit Executed(to, value, bytes4(data));
        return result;
    }

    function _checkCaller() internal view virtual {
        if (msg.sender != owner) revert NotOwner(msg.sender);
    }
}
