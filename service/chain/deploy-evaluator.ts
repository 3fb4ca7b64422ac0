import {
  type Abi,
  type Account,
  type Address,
  type Chain,
  encodeFunctionData,
  getAddress,
  type Hex,
  isAddressEqual,
  isHex,
  type PublicClient,
  type Transport,
  type WalletClient,
} from "viem";
import bytecodes from "../../contracts/bytecode.json" with { type: "json" };
import { scoreGateHookAbi } from "./abi/score-gate-hook.ts";
import { verdictEvaluatorAbi } from "./abi/verdict-evaluator.ts";
import type { Deployment } from "./deployments.ts";
import { ADAPTERS, type Escrow, type EscrowWish, requireEscrow } from "./describe-escrow.ts";

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

/**
 * Deploys the evaluator with an adapter for each generation among the escrows, allows the escrows, offers the ownership to
 * the owner where that is another than the payer, and deploys the hooks. Throws before anything is sent when an escrow is not one
 * whose jobs can be read and ended.
 */
export async function deployEvaluator(wanted: EvaluatorDeployment): Promise<DeployedEvaluator> {
  const { walletClient, publicClient, signers, owner } = wanted;
  const escrows = await Promise.all(wanted.escrows.map((wish) => requireEscrow(publicClient, wish)));
  const payer = walletClient.account.address;
  const evaluator = await create(wanted, {
    abi: verdictEvaluatorAbi,
    bytecode: bytecodes.VerdictEvaluator,
    args: [payer, signers],
  });
  const adapters = new Map<Escrow["generation"], Address>();
  for (const { generation, address: escrow } of escrows) {
    const adapter = adapters.get(generation) ?? (await createAdapter(wanted, generation));
    adapters.set(generation, adapter);
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

export type Paying = Pick<EvaluatorDeployment, "walletClient" | "publicClient">;

/** Deploys the contract that reads jobs of a generation; answers its address. */
export async function createAdapter(paying: Paying, generation: Escrow["generation"]): Promise<Address> {
  const { address } = await create(paying, { ...ADAPTERS[generation], args: [] });
  return address;
}

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
