// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {SafeTransferLib} from "solady/utils/SafeTransferLib.sol";

/// @notice Takes coin against a commitment and pays it to the account that shows its secret. It parts payer and payee as a mixer
/// does, without the proofs that would hide which deposit was paid out.
contract Mixer {
    using SafeTransferLib for address;

    event Deposited(bytes32 indexed commitment, uint256 amount);
    event Withdrawn(address indexed to, uint256 amount);

    error NothingPaid();
    error CommitmentTaken(bytes32 commitment);
    error UnknownSecret();

    mapping(bytes32 commitment => uint256 amount) public depositOf;

    /// @notice Keeps the coin that comes with the call for the account that knows the secret behind `commitment`, its keccak256.
    function deposit(bytes32 commitment) external payable {
        if (msg.value == 0) revert NothingPaid();
        if (depositOf[commitment] != 0) revert CommitmentTaken(commitment);
        depositOf[commitment] = msg.value;
        emit Deposited(commitment, msg.value);
    }

    /// @notice Pays the deposit behind `secret` to `to`, once.
    function withdraw(bytes32 secret, address to) external {
        bytes32 commitment = keccak256(abi.encode(secret));
        uint256 amount = depositOf[commitment];
        if (amount == 0) revert UnknownSecret();
        delete depositOf[commitment];
        emit Withdrawn(to, amount);
        to.safeTransferETH(amount);
    }
}
