import { type Address, encodeFunctionData, type Hex, isHex, numberToHex } from "viem";
import bytecodes from "../../contracts/bytecode.json" with { type: "json" };
import { hostileContractAbi } from "../../devnet/abi/hostile-contract.ts";
import { mintCallbackAbi } from "../../devnet/abi/mint-callback.ts";
import { identityRegistryAbi } from "../../service/chain/abi/identity-registry.ts";
import type { StandChain } from "../stand/chain.ts";
import { bundleOf, selfPointingBatch, selfPointingMulticall } from "./self-pointing.ts";

/** Writes of an attack on chain, for the checks afterwards. */
export type Attack = {
  /** Wallets that follow from it, in lower case; none of an honest agent. */
  readonly wallets: readonly Address[];
  /** The agent that its owner gave away while it was minted, and to whom. */
  readonly handedOn: { readonly agentId: bigint; readonly owner: Address };
  /** A busy contract that metadata named as an agent's wallet under another key. */
  readonly hub: Address;
  /** Newest block with any of it. */
  readonly block: number;
};

/** Elements of each self-pointing list: by 32 bytes each, as many as a transaction has room for. */
const BOMBS = [1_300, 3_000, 3_900] as const;
/** A call with its method and head. */
const MULTICALL_ELEMENTS = 508;
const MULTICALLS = 40;
const FORGED_AT_ONCE = 6_000;
const BLOCK_GAS = 29_000_000n;
const MINED_WITHIN_BLOCKS = 10;
const FIRST_FORGED = 0xf0f0_0000n;
const FIRST_SYBIL = 0x5eb1_0000;
const PAYER: Address = "0x00000000000000000000000000000000bad00001";
const HEIR: Address = "0x00000000000000000000000000000000bad00002";
const ONE_ETHER = 10n ** 18n;

/** Does to an honest agent, and to those who read the chain, what costs its author a few dollars. */
export async function attackChain(
  chain: StandChain,
  victim: Address,
  size: {
    /** Forged approvals of the victim, and as many transfers to it. */
    forged: number;
    registrations: number;
  },
): Promise<Attack> {
  const { test } = chain;
  await chain.alone(() => test.register(PAYER));
  const account = await deploy(chain, "HostileContract");
  const call = (data: Hex, to: Address = account) => send(chain, { from: PAYER, to, data });
  await call(hostile("register", [test.contracts.identityRegistry]));
  for (const [nonce, elements] of BOMBS.entries()) {
    const data = bundleOf(account, BigInt(nonce), selfPointingBatch(elements));
    await call(data, test.contracts.entryPoint);
  }
  for (let sent = 0; sent < MULTICALLS; sent += 1) {
    await pool(chain, {
      from: PAYER,
      to: test.contracts.keeperTarget1,
      data: selfPointingMulticall(MULTICALL_ELEMENTS),
    });
  }
  await chain.tick();
  for (let first = 0; first < size.forged; first += FORGED_AT_ONCE) {
    const count = BigInt(Math.min(FORGED_AT_ONCE, size.forged - first));
    await call(hostile("forge", [victim, FIRST_FORGED + BigInt(first), count]));
  }
  const hub = test.contracts.usdc;
  const handedOn = await handOn(chain, hub);
  const sybils = await registerMany(chain, size.registrations);
  return {
    wallets: [PAYER, account, ...sybils].map(lowerCase),
    handedOn,
    hub,
    block: await test.head(),
  };
}

/** Registers an agent that is given away while it is minted, and one whose metadata names a busy contract. */
async function handOn(chain: StandChain, hub: Address): Promise<Attack["handedOn"]> {
  const owner = await deploy(chain, "MintCallback");
  const registry = chain.test.contracts.identityRegistry;
  const registration = encodeFunctionData({ abi: identityRegistryAbi, functionName: "register", args: [] });
  const agentId = await nextAgentId(chain);
  const given = encodeFunctionData({
    abi: identityRegistryAbi,
    functionName: "transferFrom",
    args: [owner, HEIR, agentId],
  });
  const named = encodeFunctionData({
    abi: identityRegistryAbi,
    functionName: "setMetadata",
    args: [agentId, "x", hub],
  });
  await send(chain, {
    from: PAYER,
    to: owner,
    data: encodeFunctionData({
      abi: mintCallbackAbi,
      functionName: "register",
      args: [registry, registration, [named, given]],
    }),
  });
  return { agentId, owner: HEIR };
}

/** Ids are given in order, so the next is that of an agent registered as a trial. */
async function nextAgentId({ test: { rpc, contracts } }: StandChain): Promise<bigint> {
  const data = encodeFunctionData({ abi: identityRegistryAbi, functionName: "register", args: [] });
  const answer = (await rpc.request(
    "eth_call",
    { from: PAYER, to: contracts.identityRegistry, data },
    "latest",
  )) as Hex;
  return BigInt(answer);
}

async function registerMany(chain: StandChain, count: number): Promise<Address[]> {
  const data = encodeFunctionData({ abi: identityRegistryAbi, functionName: "register", args: [] });
  const wallets = Array.from({ length: count }, (_, place) => numberToHex(FIRST_SYBIL + place, { size: 20 }));
  for (const from of wallets) {
    await chain.test.rpc.request("anvil_setBalance", from, numberToHex(ONE_ETHER));
    await pool(chain, { from, to: chain.test.contracts.identityRegistry, data, gas: 400_000n });
  }
  // A block has room for some seventy of them.
  for (let block = 0; block < Math.ceil(count / 50); block += 1) await chain.tick();
  return wallets;
}

function hostile(functionName: "register", args: readonly [Address]): Hex;
function hostile(functionName: "forge", args: readonly [Address, bigint, bigint]): Hex;
function hostile(functionName: "register" | "forge", args: readonly unknown[]): Hex {
  return encodeFunctionData({ abi: hostileContractAbi, functionName, args } as never);
}

type Sent = {
  readonly from: Address;
  readonly to: Address | null;
  readonly data: Hex;
  readonly gas?: bigint;
};

async function deploy(chain: StandChain, name: "HostileContract" | "MintCallback"): Promise<Address> {
  const data = bytecodes[name];
  if (!isHex(data)) throw new Error("contracts/bytecode.json holds something else than code");
  const receipt = await send(chain, { from: PAYER, to: null, data });
  if (receipt.contractAddress === null) throw new Error(`${name} was not deployed`);
  return receipt.contractAddress;
}

/** Sends a transaction and mines until it is in a block; a full block leaves it for the next. */
async function send(chain: StandChain, sent: Sent): Promise<{ readonly contractAddress: Address | null }> {
  const hash = await pool(chain, { gas: BLOCK_GAS, ...sent });
  for (let block = 0; block < MINED_WITHIN_BLOCKS; block += 1) {
    await chain.tick();
    const receipt = (await chain.test.rpc.request("eth_getTransactionReceipt", hash)) as {
      readonly status: Hex;
      readonly contractAddress: Address | null;
    } | null;
    if (receipt?.status === "0x0") throw new Error(`hostile transaction ${hash} reverted`);
    if (receipt !== null) return receipt;
  }
  throw new Error(`hostile transaction ${hash} was not mined within ${MINED_WITHIN_BLOCKS} blocks`);
}

async function pool({ test: { rpc } }: StandChain, { from, to, data, gas = 1_000_000n }: Sent): Promise<Hex> {
  await rpc.request("anvil_impersonateAccount", from);
  const { baseFeePerGas } = (await rpc.request("eth_getBlockByNumber", "latest", false)) as {
    readonly baseFeePerGas: Hex;
  };
  return (await rpc.request("eth_sendTransaction", {
    from,
    ...(to === null ? {} : { to }),
    data,
    gas: numberToHex(gas),
    maxPriorityFeePerGas: numberToHex(1n),
    maxFeePerGas: numberToHex(4n * BigInt(baseFeePerGas) + 1_000_000_000n),
  })) as Hex;
}

function lowerCase(address: Address): Address {
  return address.toLowerCase() as Address;
}
