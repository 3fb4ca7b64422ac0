// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IACPHook} from "./interfaces/IACPHook.sol";
import {IERC165} from "./interfaces/IERC165.sol";
import {IJobEscrowAdapter} from "./interfaces/IJobEscrowAdapter.sol";
import {IProviderGate} from "./interfaces/IProviderGate.sol";

/// @title ProviderGate
/// @dev Invariant: it never blocks a terminal action. The provider is read from the escrow: the data handed to a
/// hook differs between generations. One deployment serves one escrow; nothing about it can be changed.
abstract contract ProviderGate is IProviderGate {
    address public immutable escrow;
    address public immutable adapter;

    constructor(address escrow_, address adapter_) {
        if (escrow_ == address(0) || adapter_ == address(0)) revert ZeroAddress();
        (escrow, adapter) = (escrow_, adapter_);
    }

    modifier onlyEscrowOrRouter(uint256 jobId) {
        if (msg.sender != escrow && msg.sender != _read(jobId).hook) {
            revert NotEscrowOrRouter(msg.sender, jobId);
        }
        _;
    }

    /// @dev While a job is open, whatever is not known to be harmless counts as funding: a selector of a generation
    /// to come must not slip through.
    function beforeAction(uint256 jobId, bytes4 selector, bytes calldata)
        external
        view
        onlyEscrowOrRouter(jobId)
    {
        if (_isTerminal(selector) || _isPreparation(selector)) return;
        IJobEscrowAdapter.Job memory job = _read(jobId);
        if (job.status != IJobEscrowAdapter.JobStatus.Open || job.provider == address(0)) return;
        requireAcceptable(job.provider);
    }

    /// @dev Only now has the escrow the provider that was just named.
    function afterAction(uint256 jobId, bytes4 selector, bytes calldata)
        external
        view
        onlyEscrowOrRouter(jobId)
    {
        if (_isSetProvider(selector)) requireAcceptable(_read(jobId).provider);
    }

    function requireAcceptable(address provider) public view virtual;

    function requiredSelectors() external view returns (bytes4[] memory selectors) {
        (bytes4 fund, bytes4 setProvider) = IJobEscrowAdapter(adapter).gateSelectors();
        selectors = new bytes4[](setProvider == 0 ? 1 : 2);
        selectors[0] = fund;
        if (setProvider != 0) selectors[1] = setProvider;
    }

    function supportsInterface(bytes4 interfaceId) external pure returns (bool) {
        return interfaceId == type(IERC165).interfaceId || interfaceId == type(IACPHook).interfaceId
            || interfaceId == this.requiredSelectors.selector;
    }

    function _read(uint256 jobId) private view returns (IJobEscrowAdapter.Job memory) {
        return IJobEscrowAdapter(adapter).readJob(escrow, jobId);
    }

    /// @dev Naming a provider, by the selectors of all generations.
    function _isSetProvider(bytes4 selector) private pure returns (bool) {
        return selector == bytes4(keccak256("setProvider(uint256,address)"))
            || selector == bytes4(keccak256("setProvider(uint256,address,bytes)"))
            || selector == bytes4(keccak256("setProvider(uint256,address,uint256)"))
            || selector == bytes4(keccak256("setProvider(uint256,address,uint256,bytes)"));
    }

    /// @dev Steps of all generations that hand work in, or end a job.
    function _isTerminal(bytes4 selector) private pure returns (bool) {
        return selector == bytes4(keccak256("complete(uint256,bytes32,bytes)"))
            || selector == bytes4(keccak256("reject(uint256,bytes32,bytes)"))
            || selector == bytes4(keccak256("complete(uint256,bytes32)"))
            || selector == bytes4(keccak256("reject(uint256,bytes32)"))
            || selector == bytes4(keccak256("claimRefund(uint256)"))
            || selector == bytes4(keccak256("claimRefund(uint256,bytes)"))
            || selector == bytes4(keccak256("submit(uint256,bytes32,bytes)"));
    }

    /// @dev Steps of all generations before any money is locked up.
    function _isPreparation(bytes4 selector) private pure returns (bool) {
        return selector == bytes4(keccak256("createJob(address,address,uint256,string,address)"))
            || selector == bytes4(keccak256("createJob(address,address,uint256,string,address,uint256)"))
            || selector == bytes4(keccak256("createJob(address,address,uint48,string,address,uint256)"))
            || selector == bytes4(keccak256("createJob(address,address,uint48,string,address,uint256,bytes)"))
            || selector == bytes4(keccak256("setBudget(uint256,uint256,bytes)"))
            || selector == bytes4(keccak256("setBudget(uint256,address,uint256,bytes)"))
            || selector == bytes4(keccak256("setPayoutReceiver(uint256,address,bytes)"));
    }
}
