import {
  type Abi,
  type Account,
  type Address,
  type Chain,
  domainSeparator,
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
import { agentHealthOracleAbi } from "./abi/agent-health-oracle.ts";
import { assuranceAccountsAbi } from "./abi/assurance-accounts.ts";
import { scoreGateHookAbi } from "./abi/score-gate-hook.ts";
import { verdictEvaluatorAbi } from "./abi/verdict-evaluator.ts";
import type { Deployment } from "./deployments.ts";
import { ADAPTERS, type Escrow, type EscrowWish, requireEscrow } from "./describe-escrow.ts";
import { scoreDomain } from "./oracle-codec.ts";

type OracleRoles = {
  readonly owner: Address;
  readonly publisher: Address;
  readonly signers: readonly Address[];
  /** The ERC-8004 registry that scoreOfAgent asks. */
  readonly identityRegistry: Address;
  /** Wei. */
  readonly requestFee: bigint;
};

/** Deploys the oracle with all roles in one transaction, waits for its receipt and reads the roles back; throws when the deployment reverts or the chain holds something else. */
export async function deployOracle(
  deployment: OracleRoles & {
    /** Pays for the deployment; it gets no role of its own. */
    readonly walletClient: WalletClient<Transport, Chain | undefined, Account>;
    readonly publicClient: PublicClient;
  },
): Promise<{
  readonly address: Address;
  /** Block of the deployment, from which its events are indexed. */
  readonly startBlock: number;
  readonly transactionHash: Hex;
}> {
  const { publicClient, owner, publisher, signers, identityRegistry, requestFee } = deployment;
  await requireCode(publicClient, identityRegistry, "identity registry");
  const { address, startBlock, transactionHash } = await create(deployment, {
    abi: agentHealthOracleAbi,
    bytecode: bytecodes.AgentHealthOracle,
    args: [owner, publisher, signers, identityRegistry, requestFee],
  });
  await requireCode(publicClient, address, "oracle");
  const faults = await roleFaults(publicClient, address, deployment);
  if (faults.length > 0) throw new Error(`oracle ${address}: ${faults.join("; ")}`);
  return { address, startBlock, transactionHash };
}

/** Names the differences between an oracle's roles on chain and those expected, one sentence each; empty when equal. */
export async function roleFaults(
  client: PublicClient,
  address: Address,
  expected: OracleRoles,
): Promise<string[]> {
  const oracle = { address, abi: agentHealthOracleAbi } as const;
  const [owner, publisher, signers, identityRegistry, requestFee] = await Promise.all([
    client.readContract({ ...oracle, functionName: "owner" }),
    client.readContract({ ...oracle, functionName: "publisher" }),
    client.readContract({ ...oracle, functionName: "signers" }),
    client.readContract({ ...oracle, functionName: "identityRegistry" }),
    client.readContract({ ...oracle, functionName: "requestFee" }),
  ]);
  const faults: string[] = [];
  const expectAddress = (role: string, actual: Address, wanted: Address): void => {
    if (!isAddressEqual(actual, wanted)) faults.push(`${role} is ${actual}, expected ${wanted}`);
  };
  expectAddress("owner", owner, expected.owner);
  expectAddress("publisher", publisher, expected.publisher);
  expectAddress("identity registry", identityRegistry, expected.identityRegistry);
  if (requestFee !== expected.requestFee)
    faults.push(`request fee is ${requestFee}, expected ${expected.requestFee}`);
  if (!sameAddresses(signers, expected.signers)) {
    faults.push(`signers are ${signers.join(", ")}, expected ${expected.signers.join(", ")}`);
  }
  return faults;
}

/**
 * Says why an oracle does not read the words and signatures that this version makes, null if it does. An oracle cannot be
 * upgraded: one of another version stays as it is, and a new one is deployed beside it.
 */
export async function oracleFault(
  client: PublicClient,
  oracle: { readonly chainId: number; readonly address: Address },
): Promise<string | null> {
  const { address } = oracle;
  const call = { address, abi: agentHealthOracleAbi, functionName: "domainSeparator" } as const;
  const [actual, expected] = [
    await client.readContract(call),
    domainSeparator({ domain: scoreDomain(oracle) }),
  ];
  if (actual === expected) return null;
  return `oracle ${address} is of another version: domain separator ${actual}, expected ${expected}`;
}

async function requireCode(client: PublicClient, address: Address, what: string): Promise<void> {
  const code = await client.getCode({ address });
  if (code === undefined || code === "0x") throw new Error(`${what}: there is no contract at ${address}`);
}

function sameAddresses(actual: readonly Address[], expected: readonly Address[]): boolean {
  const wanted = new Set(expected.map((address) => address.toLowerCase()));
  return actual.length === wanted.size && actual.every((address) => wanted.has(address.toLowerCase()));
}

/** Requirements of a hook for providers; score 0 to 100, age in seconds. */
export type GateWish = {
  readonly minScore: number;
  readonly maxAge: bigint;
  readonly allowUnscored: boolean;
};

type EvaluatorDeployment = {
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
  /** Null deploys no accounts for bonds. */
  readonly usdc: Address | null;
};

/**
 * Deploys the evaluator with an adapter for each generation among the escrows, allows the escrows, offers the ownership to the owner if
 * that is not the payer, and deploys the hooks and the accounts for bonds. Throws before anything is sent for an escrow whose jobs cannot be
 * read and ended.
 */
export async function deployEvaluator(wanted: EvaluatorDeployment): Promise<{
  readonly verdictEvaluator: NonNullable<Deployment["verdictEvaluator"]>;
  readonly escrows: readonly Escrow[];
  /** One for each escrow, in their order; none without a gate. The escrows' own admins decide whether jobs may name them. */
  readonly hooks: readonly Address[];
  readonly assuranceAccounts: Deployment["assuranceAccounts"];
}> {
  const { walletClient, publicClient, signers, owner, usdc } = wanted;
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
  const { address, startBlock } = evaluator;
  const assuranceAccounts =
    usdc === null ? null : await deployAssuranceAccounts(wanted, { usdc, evaluator: address });
  return { verdictEvaluator: { address, startBlock }, escrows, hooks, assuranceAccounts };
}

/** Deploys the accounts for bonds beside an evaluator. They have no owner. */
export async function deployAssuranceAccounts(
  paying: Paying,
  { usdc, evaluator }: { readonly usdc: Address; readonly evaluator: Address },
): Promise<NonNullable<Deployment["assuranceAccounts"]>> {
  const { address, startBlock } = await create(paying, {
    abi: assuranceAccountsAbi,
    bytecode: bytecodes.AssuranceAccounts,
    args: [usdc, evaluator],
  });
  return { address, startBlock };
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

/** Deploys the contract that reads jobs of a generation; returns its address. */
export async function createAdapter(paying: Paying, generation: Escrow["generation"]): Promise<Address> {
  const { address } = await create(paying, { ...ADAPTERS[generation], args: [] });
  return address;
}

async function create(
  { walletClient, publicClient }: Paying,
  { bytecode, ...contract }: { abi: Abi; bytecode: string; args: readonly unknown[] },
): Promise<{ address: Address; startBlock: number; transactionHash: Hex }> {
  if (!isHex(bytecode)) throw new Error("contracts/bytecode.json holds something else than code");
  const { account, chain = null } = walletClient;
  const hash = await walletClient.deployContract({ ...contract, bytecode, account, chain });
  const receipt = await publicClient.waitForTransactionReceipt({ hash });
  if (receipt.status !== "success" || !receipt.contractAddress) {
    throw new Error(`the deployment in ${hash} reverted`);
  }
  const address = getAddress(receipt.contractAddress);
  return { address, startBlock: Number(receipt.blockNumber), transactionHash: hash };
}

async function send({ walletClient, publicClient }: Paying, to: Address, data: Hex): Promise<void> {
  const { account, chain = null } = walletClient;
  const hash = await walletClient.sendTransaction({ to, data, account, chain });
  const receipt = await publicClient.waitForTransactionReceipt({ hash });
  if (receipt.status !== "success") throw new Error(`the call of the evaluator in ${hash} reverted`);
}
