// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

/// @notice Registry of services with the events of Olas' ServiceRegistryL2. A service is deployed when it is created, with its owner
/// as multisig; agents, bonds and operators are left out.
contract ServiceRegistryL2 {
    /// @notice A service was created with the configuration of this hash.
    event CreateService(uint256 indexed serviceId, bytes32 configHash);
    /// @notice The configuration of a service changed.
    event UpdateService(uint256 indexed serviceId, bytes32 configHash);
    /// @notice A service was deployed with this multisig.
    event CreateMultisigWithAgents(uint256 indexed serviceId, address indexed multisig);

    /// @notice Services so far; they are numbered from 1 on.
    uint256 public totalSupply;
    /// @notice Creator of a service; the zero address for an unknown one.
    mapping(uint256 serviceId => address owner) public ownerOf;

    error OwnerOnly(address caller, address owner);

    /// @notice Creates a service of the caller and deploys it.
    function create(bytes32 configHash) external returns (uint256 serviceId) {
        serviceId = ++totalSupply;
        ownerOf[serviceId] = msg.sender;
        emit CreateService(serviceId, configHash);
        emit CreateMultisigWithAgents(serviceId, msg.sender);
    }

    /// @notice Changes the configuration; owner only.
    function update(uint256 serviceId, bytes32 configHash) external {
        address owner = ownerOf[serviceId];
        if (msg.sender != owner) revert OwnerOnly(msg.sender, owner);
        emit UpdateService(serviceId, configHash);
    }
}
