// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {PRBTest} from "@prb/test/PRBTest.sol";
import {Vm} from "@prb/test/Vm.sol";

import {IdentityRegistry} from "../../../devnet/contracts/IdentityRegistry.sol";
import {MintCallback} from "../../../devnet/contracts/MintCallback.sol";
import {SmartWallet} from "../../../devnet/contracts/SmartWallet.sol";

contract IdentityRegistryTest is PRBTest {
    bytes32 private constant TRANSFER = keccak256("Transfer(address,address,uint256)");
    bytes32 private constant REGISTERED = 0xca52e62c367d81bb2e328eb795f7c7ba24afb478408a26c0e201d155c449bc4a;
    bytes32 private constant URI_UPDATED = 0x3a2c7fffc2cba7582c690e3b82c453ea02a308326a98a3ad7576c606336409fb;
    bytes32 private constant METADATA_SET =
        0x2c149ed548c6d2993cd73efe187df6eccabe4538091b33adbd25fafdb8a1468b;

    address private constant OWNER = address(0xA11CE);
    address private constant STRANGER = address(0x5717);
    uint256 private constant WALLET_KEY = 0xB0B;

    IdentityRegistry private registry;
    address private wallet;

    function setUp() external {
        vm.warp(1_790_000_000);
        registry = new IdentityRegistry();
        wallet = vm.addr(WALLET_KEY);
    }

    function test_TheFirstAgentHasIdZero() external {
        assertEq(_register("a"), 0);
        assertEq(_register("b"), 1);
        assertEq(registry.ownerOf(0), OWNER);
        assertEq(registry.tokenURI(1), "b");
    }

    function test_RegistrationLogsTransferThenRegisteredThenTheWalletInTwentyBytes() external {
        vm.recordLogs();
        uint256 agentId = _register("data:,x");
        Vm.Log[] memory logs = vm.getRecordedLogs();

        assertEq(logs.length, 3);
        assertEq(logs[0].topics[0], TRANSFER);
        assertEq(logs[1].topics[0], REGISTERED);
        assertEq(abi.decode(logs[1].data, (string)), "data:,x");
        assertEq(logs[1].topics[2], bytes32(uint256(uint160(OWNER))));
        _assertWalletLog(logs[2], agentId, abi.encodePacked(OWNER));
        assertEq(registry.getAgentWallet(agentId), OWNER);
    }

    function test_RegistrationWithMetadataLogsOneEntryEach() external {
        IdentityRegistry.MetadataEntry[] memory entries = new IdentityRegistry.MetadataEntry[](2);
        entries[0] = IdentityRegistry.MetadataEntry("model", hex"01");
        entries[1] = IdentityRegistry.MetadataEntry("colour", hex"0203");

        vm.recordLogs();
        vm.prank(OWNER);
        uint256 agentId = registry.register("", entries);
        Vm.Log[] memory logs = vm.getRecordedLogs();

        assertEq(logs.length, 5);
        assertEq(logs[4].topics[2], keccak256("colour"));
        assertEq(registry.getMetadata(agentId, "colour"), hex"0203");
    }

    function test_TheWalletKeyIsReserved() external {
        IdentityRegistry.MetadataEntry[] memory entries = new IdentityRegistry.MetadataEntry[](1);
        entries[0] = IdentityRegistry.MetadataEntry("agentWallet", abi.encodePacked(STRANGER));
        vm.prank(OWNER);
        vm.expectRevert(IdentityRegistry.ReservedKey.selector);
        registry.register("", entries);

        uint256 agentId = _register("");
        vm.prank(OWNER);
        vm.expectRevert(IdentityRegistry.ReservedKey.selector);
        registry.setMetadata(agentId, "agentWallet", abi.encodePacked(STRANGER));
    }

    function test_TheOwnerReplacesTheUri() external {
        uint256 agentId = _register("old");
        vm.recordLogs();
        vm.prank(OWNER);
        registry.setAgentURI(agentId, "new");
        Vm.Log[] memory logs = vm.getRecordedLogs();
        assertEq(logs[0].topics[0], URI_UPDATED);
        assertEq(registry.tokenURI(agentId), "new");
    }

    function test_StrangersChangeNothing() external {
        uint256 agentId = _register("");
        bytes memory refusal =
            abi.encodeWithSelector(IdentityRegistry.NotAuthorized.selector, STRANGER, agentId);
        vm.startPrank(STRANGER);
        vm.expectRevert(refusal);
        registry.setAgentURI(agentId, "x");
        vm.expectRevert(refusal);
        registry.setMetadata(agentId, "k", "v");
        vm.expectRevert(refusal);
        registry.unsetAgentWallet(agentId);
        vm.expectRevert(refusal);
        registry.setAgentWallet(agentId, STRANGER, block.timestamp, "");
    }

    function test_AnotherWalletConsentsBySignature() external {
        uint256 agentId = _register("");
        uint256 deadline = block.timestamp + 5 minutes;
        bytes memory signature = _consent(agentId, wallet, deadline);
        vm.recordLogs();
        vm.prank(OWNER);
        registry.setAgentWallet(agentId, wallet, deadline, signature);
        _assertWalletLog(vm.getRecordedLogs()[0], agentId, abi.encodePacked(wallet));
        assertEq(registry.getAgentWallet(agentId), wallet);
    }

    function test_ASmartWalletConsentsThroughItsOwner() external {
        uint256 agentId = _register("");
        address account = address(new SmartWallet(wallet));
        bytes memory signature = _consent(agentId, account, block.timestamp);
        vm.prank(OWNER);
        registry.setAgentWallet(agentId, account, block.timestamp, signature);
        assertEq(registry.getAgentWallet(agentId), account);
    }

    function test_AConsentOverAnotherAgentOrAfterItsTimeOrTooFarAheadIsRefused() external {
        uint256 agentId = _register("");
        uint256 soon = block.timestamp + 1 minutes;
        bytes memory otherAgent = _consent(agentId + 1, wallet, soon);
        bytes memory late = _consent(agentId, wallet, block.timestamp - 1);
        uint256 far = block.timestamp + 5 minutes + 1;
        bytes memory early = _consent(agentId, wallet, far);
        vm.startPrank(OWNER);
        vm.expectRevert(abi.encodeWithSelector(IdentityRegistry.InvalidWalletSignature.selector, wallet));
        registry.setAgentWallet(agentId, wallet, soon, otherAgent);
        vm.expectRevert(abi.encodeWithSelector(IdentityRegistry.DeadlinePassed.selector, block.timestamp - 1));
        registry.setAgentWallet(agentId, wallet, block.timestamp - 1, late);
        vm.expectRevert(abi.encodeWithSelector(IdentityRegistry.DeadlineTooFar.selector, far, far - 1));
        registry.setAgentWallet(agentId, wallet, far, early);
        vm.expectRevert(IdentityRegistry.ZeroWallet.selector);
        registry.setAgentWallet(agentId, address(0), soon, "");
    }

    function test_UnsettingClearsTheWallet() external {
        uint256 agentId = _register("");
        vm.recordLogs();
        vm.prank(OWNER);
        registry.unsetAgentWallet(agentId);
        _assertWalletLog(vm.getRecordedLogs()[0], agentId, "");
        assertEq(registry.getAgentWallet(agentId), address(0));
    }

    function test_ATransferClearsTheWalletBeforeItsOwnLog() external {
        uint256 agentId = _register("");
        vm.recordLogs();
        vm.prank(OWNER);
        registry.transferFrom(OWNER, STRANGER, agentId);
        Vm.Log[] memory logs = vm.getRecordedLogs();
        _assertWalletLog(logs[0], agentId, "");
        assertEq(logs[1].topics[0], TRANSFER);
        assertEq(registry.getAgentWallet(agentId), address(0));
        assertTrue(registry.isAuthorizedOrOwner(STRANGER, agentId));
        assertFalse(registry.isAuthorizedOrOwner(OWNER, agentId));
    }

    function test_TheWalletLogOfARegistrationComesLastEvenWhereTheAgentWasHandedOnMeanwhile() external {
        MintCallback owner = new MintCallback();
        bytes[] memory duringMint = new bytes[](1);
        duringMint[0] = abi.encodeWithSignature(
            "transferFrom(address,address,uint256)", address(owner), STRANGER, uint256(0)
        );
        vm.recordLogs();
        owner.register(address(registry), abi.encodeWithSignature("register(string)", "a"), duringMint);
        Vm.Log[] memory logs = vm.getRecordedLogs();

        assertEq(logs.length, 5);
        assertEq(logs[0].topics[0], TRANSFER);
        _assertWalletLog(logs[1], 0, "");
        assertEq(logs[2].topics[0], TRANSFER);
        assertEq(logs[3].topics[0], REGISTERED);
        _assertWalletLog(logs[4], 0, abi.encodePacked(address(owner)));
        assertEq(registry.ownerOf(0), STRANGER);
        assertEq(registry.getAgentWallet(0), address(0));
    }

    function _register(string memory uri) private returns (uint256) {
        vm.prank(OWNER);
        return registry.register(uri);
    }

    function _consent(uint256 agentId, address newWallet, uint256 deadline)
        private
        view
        returns (bytes memory)
    {
        bytes32 domain = keccak256(
            abi.encode(
                keccak256(
                    "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"
                ),
                keccak256("ERC8004IdentityRegistry"),
                keccak256("1"),
                block.chainid,
                address(registry)
            )
        );
        bytes32 typeHash = 0x678b53cd718d595370ab070ebf48edfdcd834beac116bf23e625fc7f4d5b7d32;
        bytes32 message = keccak256(abi.encode(typeHash, agentId, newWallet, OWNER, deadline));
        (uint8 v, bytes32 r, bytes32 s) =
            vm.sign(WALLET_KEY, keccak256(abi.encodePacked(hex"1901", domain, message)));
        return abi.encodePacked(r, s, v);
    }

    function _assertWalletLog(Vm.Log memory log, uint256 agentId, bytes memory packed) private {
        assertEq(log.topics[0], METADATA_SET);
        assertEq(log.topics[1], bytes32(agentId));
        assertEq(log.topics[2], keccak256("agentWallet"));
        (string memory key, bytes memory value) = abi.decode(log.data, (string, bytes));
        assertEq(key, "agentWallet");
        assertEq(value, packed);
    }
}
