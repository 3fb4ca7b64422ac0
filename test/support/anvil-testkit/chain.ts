import { type Address, encodeFunctionData, type Hex, numberToHex } from "viem";
import { freePort } from "../../../bin/supervisor/child-process.ts";
import { keeperTargetAbi } from "../../../devnet/abi/keeper-target.ts";
import { startAnvil } from "../../../devnet/anvil-process.ts";
import type { Contracts } from "../../../devnet/contract-list.ts";
import { deployContracts } from "../../../devnet/deploy-contracts.ts";
import type { JsonRpc } from "../../../devnet/json-rpc.ts";
import { identityRegistryAbi } from "../../../service/chain/abi/identity-registry.ts";
import { sanctionsListAbi } from "../../../service/chain/abi/sanctions-list.ts";

const CALL_GAS = 500_000n;
const ONE_ETHER = 10n ** 18n;
/** No contract answers it, so a call with it reverts at every contract of the chain. */
const UNKNOWN_SELECTOR: Hex = "0xdeadbeef";

/** Of 20 bytes, the last of which numbers the stranger. */
const FIRST_STRANGER = 0xfffe_0000;
const STRANGERS = 12;

const PERFORM = encodeFunctionData({ abi: keeperTargetAbi, functionName: "perform", args: [1n, 2n ** 63n] });

type Call = {
  readonly from: Address;
  readonly to: Address;
  readonly data?: Hex;
  readonly value?: bigint;
  readonly gas?: bigint;
};
type Mined = {
  readonly hash: Hex;
  readonly status: "success" | "reverted";
  readonly blockNumber: number;
};

export type TestChain = Awaited<ReturnType<typeof startTestChain>>;

/** A chain with all contracts that mines only on request. Genesis is `ageSeconds` in the past, so that tests can make history. */
export async function startTestChain(ageSeconds = 0) {
  const port = await freePort();
  const genesisTime = Math.floor(Date.now() / 1000) - ageSeconds;
  const anvil = await startAnvil({ port, chainId: 31_337, stateFile: null, genesisTime });
  const { deployment, contracts } = await deployContracts(anvil.rpc);
  const { rpc } = anvil;
  return {
    ...anvil,
    deployment,
    contracts,
    ...timeControls(rpc),
    ...agentActions(rpc, contracts),
    ...callActions(rpc, contracts),
  };
}

function timeControls(rpc: JsonRpc) {
  return {
    head: async (): Promise<number> => Number(await rpc.request("eth_blockNumber")),
    /** Mines empty blocks, so many seconds apart. */
    mine: async (blocks: number, seconds = 1): Promise<void> => {
      await rpc.request("anvil_mine", numberToHex(blocks), numberToHex(seconds));
    },
    /** Mines a block at the time of the wall clock, or so many seconds behind it, and leaves the chain's clock there. */
    toWallClock: async (secondsBehind = 0): Promise<void> => {
      const time = Math.floor(Date.now() / 1000) - secondsBehind;
      await rpc.request("evm_setNextBlockTimestamp", numberToHex(time));
      await rpc.request("evm_mine");
    },
    /** Mines one block at whatever time the chain's clock shows. */
    tick: async (): Promise<void> => {
      await rpc.request("evm_mine");
    },
    /** The next block is that many seconds younger than it would be. */
    moveTime: async (seconds: number): Promise<void> => {
      await rpc.request("evm_increaseTime", numberToHex(seconds));
    },
    /** Replaces the newest blocks by empty ones of other hashes. */
    reorg: async (depth: number): Promise<void> => {
      await rpc.request("anvil_reorg", depth, []);
    },
  };
}

function callActions(rpc: JsonRpc, contracts: Contracts) {
  const send = (call: Call): Promise<Mined> => sendAndMine(rpc, call);
  return {
    /** Puts a transaction from any address into the pool, and mines nothing; answers its hash. */
    submit: (call: Call): Promise<Hex> => submit(rpc, call),
    /** Sends from any address, mines one block with it and returns what became of it. */
    send,
    /** A call that succeeds and emits logs. */
    succeed: (from: Address, target: Address = contracts.keeperTarget1): Promise<Mined> =>
      send({ from, to: target, data: PERFORM }),
    /**
     * A call that succeeds, in one block with calls of a dozen strangers to the same target and to another: the target has
     * independent users from then on, without which no call to it proves anything.
     */
    succeedInCrowd: async (from: Address, target: Address = contracts.keeperTarget1): Promise<void> => {
      const elsewhere = contracts.keeperTarget6;
      for (let number = 0; number < STRANGERS; number += 1) {
        const stranger = numberToHex(FIRST_STRANGER + number, { size: 20 });
        await rpc.request("anvil_setBalance", stranger, numberToHex(ONE_ETHER));
        await submit(rpc, { from: stranger, to: target, data: PERFORM });
        await submit(rpc, { from: stranger, to: elsewhere, data: PERFORM });
      }
      await send({ from, to: target, data: PERFORM });
    },
    /** A call that is mined and reverts. */
    revert: (from: Address, target: Address = contracts.keeperTarget1): Promise<Mined> =>
      send({ from, to: target, data: UNKNOWN_SELECTOR }),
  };
}

function agentActions(rpc: JsonRpc, contracts: Contracts) {
  const asOwner = async (
    functionName: "addToSanctionsList" | "removeFromSanctionsList",
    wallets: Address[],
  ) => {
    const [owner] = (await rpc.request("eth_accounts")) as [Address];
    const data = encodeFunctionData({ abi: sanctionsListAbi, functionName, args: [wallets] });
    return sendAndMine(rpc, { from: owner, to: contracts.sanctionsList, data });
  };
  return {
    /** Funds the wallet and registers an agent of it. */
    register: async (wallet: Address): Promise<Mined> => {
      await rpc.request("anvil_setBalance", wallet, numberToHex(100n * ONE_ETHER));
      const data = encodeFunctionData({
        abi: identityRegistryAbi,
        functionName: "register",
        args: ["data:,agent"],
      });
      return sendAndMine(rpc, { from: wallet, to: contracts.identityRegistry, data });
    },
    sanction: (wallets: Address[]) => asOwner("addToSanctionsList", wallets),
    unsanction: (wallets: Address[]) => asOwner("removeFromSanctionsList", wallets),
  };
}

async function sendAndMine(rpc: JsonRpc, call: Call): Promise<Mined> {
  const hash = await submit(rpc, call);
  await rpc.request("evm_mine");
  const receipt = (await rpc.request("eth_getTransactionReceipt", hash)) as {
    status: Hex;
    blockNumber: Hex;
  } | null;
  if (receipt === null) throw new Error(`transaction ${hash} was not mined`);
  return {
    hash,
    status: receipt.status === "0x1" ? "success" : "reverted",
    blockNumber: Number(receipt.blockNumber),
  };
}

/** Puts a transaction into the pool. */
async function submit(rpc: JsonRpc, call: Call): Promise<Hex> {
  await rpc.request("anvil_impersonateAccount", call.from);
  const { baseFeePerGas } = (await rpc.request("eth_getBlockByNumber", "latest", false)) as {
    baseFeePerGas: Hex;
  };
  const tip = 100_000_000n;
  return (await rpc.request("eth_sendTransaction", {
    from: call.from,
    to: call.to,
    data: call.data ?? "0x",
    value: numberToHex(call.value ?? 0n),
    gas: numberToHex(call.gas ?? CALL_GAS),
    maxPriorityFeePerGas: numberToHex(tip),
    maxFeePerGas: numberToHex(2n * BigInt(baseFeePerGas) + tip),
  })) as Hex;
}
