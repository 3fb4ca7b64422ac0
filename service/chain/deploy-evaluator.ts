import {
  type Abi,
  type Account,
  type Address,
  BaseError,
  type Chain,
  ContractFunctionRevertedError,
  encodeFunctionData,
  getAddress,
  type Hex,
  isAddressEqual,
  isHex,
  keccak256,
  type PublicClient,
  slice,
  type Transport,
  type WalletClient,
} from "viem";
import bytecodes from "../../contracts/bytecode.json" with { type: "json" };
import { jobAdapterG1Abi } from "./abi/job-adapter-g1.ts";
import { jobAdapterG3Abi } from "./abi/job-adapter-g3.ts";
import { jobAdapterV3Abi } from "./abi/job-adapter-v3.ts";
import { scoreGateHookAbi } from "./abi/score-gate-hook.ts";
import { verdictEvaluatorAbi } from "./abi/verdict-evaluator.ts";
import type { Deployment } from "./deployments.ts";

type Escrow = Deployment["escrows"][number];

/** An escrow whose jobs are to be settled, from the block on from which its events are indexed. */
export type EscrowWish = Pick<Escrow, "address" | "startBlock" | "generation">;

/** What a hook asks of providers; score 0 to 100, age in seconds. */
export type GateWish = {
  readonly minScore: number;
  readonly maxAge: bigint;
  readonly allowUnscored: boolean;
};

export type EvaluatorDeployment = {
  /** Pays, and owns the evaluator until another owner has taken it. */
  readonly walletClient: WalletClient<Transport, Chain | undefined, Account>;
  readonly publicClient: PublicClient;
  readonly owner: Address;
  /** Whose verdicts are believed. */
  readonly signers: readonly Address[];
  readonly escrows: readonly EscrowWish[];
  /** Null deploys no hooks. */
  readonly gate: GateWish | null;
  readonly oracle: Address;
};

export type DeployedEvaluator = {
  readonly verdictEvaluator: NonNullable<Deployment["verdictEvaluator"]>;
  readonly escrows: readonly Escrow[];
  /** One for each escrow, in their order; none without a gate. The escrows' own admins decide whether jobs may name them. */
  readonly hooks: readonly Address[];
};

/** Where ERC-1967 proxies keep the address of their implementation. */
const IMPLEMENTATION_SLOT: Hex = "0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc";

const ADAPTERS = {
  G1: { abi: jobAdapterG1Abi, bytecode: bytecodes.JobAdapterG1 },
  G3: { abi: jobAdapterG3Abi, bytecode: bytecodes.JobAdapterG3 },
  V3: { abi: jobAdapterV3Abi, bytecode: bytecodes.JobAdapterV3 },
} as const;

/**
 * Deploys the evaluator with an adapter for each generation among the escrows, allows the escrows, offers the ownership to
 * the owner where that is another than the payer, and deploys the hooks. Throws when an escrow has no code, before anything
 * is sent, or when its first job does not read as one of its generation, before it is allowed.
 */
export async function deployEvaluator(wanted: EvaluatorDeployment): Promise<DeployedEvaluator> {
  const { walletClient, publicClient, signers, owner } = wanted;
  const escrows = await Promise.all(wanted.escrows.map((wish) => describeEscrow(publicClient, wish)));
  const payer = walletClient.account.address;
  const evaluator = await create(wanted, {
    abi: verdictEvaluatorAbi,
    bytecode: bytecodes.VerdictEvaluator,
    args: [payer, signers],
  });
  const adapters = new Map<Escrow["generation"], Address>();
  for (const { generation, address: escrow } of escrows) {
    const adapter =
      adapters.get(generation) ?? (await create(wanted, { ...ADAPTERS[generation], args: [] })).address;
    adapters.set(generation, adapter);
    await requireReadable(publicClient, { escrow, adapter, generation });
    const args = [escrow, adapter] as const;
    const data = encodeFunctionData({ abi: verdictEvaluatorAbi, functionName: "setEscrow", args });
    await send(wanted, evaluator.address, data);
  }
  const hooks = await createHooks(wanted, adapters);
  if (!isAddressEqual(owner, payer)) {
    const call = { abi: verdictEvaluatorAbi, functionName: "transferOwnership", args: [owner] } as const;
    await send(wanted, evaluator.address, encodeFunctionData(call));
  }
  return { verdictEvaluator: evaluator, escrows, hooks };
}

/** An escrow with the hash of its code and, for a proxy of ERC-1967, its implementation with the hash of that; throws when there is no code. */
export async function describeEscrow(client: PublicClient, wish: EscrowWish): Promise<Escrow> {
  const address = getAddress(wish.address);
  const codeHash = await codeHashOf(client, address);
  const slot = await client.getStorageAt({ address, slot: IMPLEMENTATION_SLOT });
  if (slot === undefined || BigInt(slot) === 0n) return { ...wish, address, codeHash, implementation: null };
  const target = getAddress(slice(slot, 12));
  const implementation = { address: target, codeHash: await codeHashOf(client, target) };
  return { ...wish, address, codeHash, implementation };
}

async function codeHashOf(client: PublicClient, address: Address): Promise<Hex> {
  const code = await client.getCode({ address });
  if (code === undefined || code === "0x") throw new Error(`there is no contract at ${address}`);
  return keccak256(code);
}

type Reading = {
  readonly escrow: Address;
  readonly adapter: Address;
  readonly generation: Escrow["generation"];
};

/** Ids start at 1 in every generation, so that an escrow without a first job has none. */
async function requireReadable(
  client: PublicClient,
  { escrow, adapter, generation }: Reading,
): Promise<void> {
  const { abi } = ADAPTERS[generation];
  try {
    await client.readContract({ address: adapter, abi, functionName: "readJob", args: [escrow, 1n] });
  } catch (error) {
    const revert =
      error instanceof BaseError && error.walk((e) => e instanceof ContractFunctionRevertedError);
    const name = revert instanceof ContractFunctionRevertedError ? revert.data?.errorName : undefined;
    if (name === "UnknownJob") return;
    throw new Error(`job 1 of the escrow ${escrow} does not read as one of generation ${generation}`, {
      cause: error,
    });
  }
}

async function createHooks(
  wanted: EvaluatorDeployment,
  adapters: ReadonlyMap<Escrow["generation"], Address>,
): Promise<Address[]> {
  const { gate, oracle } = wanted;
  const hooks: Address[] = [];
  if (gate === null) return hooks;
  for (const { address: escrow, generation } of wanted.escrows) {
    const { address } = await create(wanted, {
      abi: scoreGateHookAbi,
      bytecode: bytecodes.ScoreGateHook,
      args: [escrow, adapters.get(generation), oracle, gate.minScore, gate.maxAge, gate.allowUnscored],
    });
    hooks.push(address);
  }
  return hooks;
}

type Paying = Pick<EvaluatorDeployment, "walletClient" | "publicClient">;
type Creation = { readonly abi: Abi; readonly bytecode: string; readonly args: readonly unknown[] };

async function create(
  { walletClient, publicClient }: Paying,
  { abi, bytecode, args }: Creation,
): Promise<{ address: Address; startBlock: number }> {
  if (!isHex(bytecode)) throw new Error("contracts/bytecode.json holds something else than code");
  const hash = await walletClient.deployContract({
    abi,
    bytecode,
    args,
    account: walletClient.account,
    chain: walletClient.chain ?? null,
  });
  const receipt = await publicClient.waitForTransactionReceipt({ hash });
  if (receipt.status !== "success" || !receipt.contractAddress) {
    throw new Error(`the deployment in ${hash} reverted`);
  }
  return { address: getAddress(receipt.contractAddress), startBlock: Number(receipt.blockNumber) };
}

async function send({ walletClient, publicClient }: Paying, to: Address, data: Hex): Promise<void> {
  const { account } = walletClient;
  const hash = await walletClient.sendTransaction({ to, data, account, chain: walletClient.chain ?? null });
  const receipt = await publicClient.waitForTransactionReceipt({ hash });
  if (receipt.status !== "success") throw new Error(`the call of the evaluator in ${hash} reverted`);
}
