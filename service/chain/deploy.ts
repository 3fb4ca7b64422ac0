import {
  type Account,
  type Address,
  type Chain,
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

export type OracleRoles = {
  readonly owner: Address;
  readonly publisher: Address;
  readonly signers: readonly Address[];
  /** The ERC-8004 registry that scoreOfAgent asks. */
  readonly identityRegistry: Address;
  /** Wei. */
  readonly requestFee: bigint;
};

export type OracleDeployment = OracleRoles & {
  /** Pays for the deployment; it gets no role of its own. */
  readonly walletClient: WalletClient<Transport, Chain | undefined, Account>;
  readonly publicClient: PublicClient;
};

export type DeployedOracle = {
  readonly address: Address;
  /** Block of the deployment, from which its events are indexed. */
  readonly startBlock: bigint;
  readonly transactionHash: Hex;
};

/** Deploys the oracle with all roles in one transaction, waits for its receipt and reads the roles back; throws when the deployment reverts or the chain holds something else. */
export async function deployOracle(deployment: OracleDeployment): Promise<DeployedOracle> {
  const { walletClient, publicClient, owner, publisher, signers, identityRegistry, requestFee } = deployment;
  await requireCode(publicClient, identityRegistry, "identity registry");
  const transactionHash = await walletClient.deployContract({
    abi: agentHealthOracleAbi,
    bytecode: oracleBytecode(),
    args: [owner, publisher, signers, identityRegistry, requestFee],
    account: walletClient.account,
    chain: walletClient.chain ?? null,
  });
  const receipt = await publicClient.waitForTransactionReceipt({ hash: transactionHash });
  if (receipt.status !== "success" || !receipt.contractAddress) {
    throw new Error(`deployment of the oracle reverted in ${transactionHash}`);
  }
  const address = getAddress(receipt.contractAddress);
  await requireCode(publicClient, address, "oracle");
  const faults = await roleFaults(publicClient, address, deployment);
  if (faults.length > 0) throw new Error(`oracle ${address}: ${faults.join("; ")}`);
  return { address, startBlock: receipt.blockNumber, transactionHash };
}

/** What differs between the roles an oracle has on chain and those expected, one sentence each; empty when nothing does. */
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

async function requireCode(client: PublicClient, address: Address, what: string): Promise<void> {
  const code = await client.getCode({ address });
  if (code === undefined || code === "0x") throw new Error(`${what}: there is no contract at ${address}`);
}

function sameAddresses(actual: readonly Address[], expected: readonly Address[]): boolean {
  const wanted = new Set(expected.map((address) => address.toLowerCase()));
  return actual.length === wanted.size && actual.every((address) => wanted.has(address.toLowerCase()));
}

function oracleBytecode(): Hex {
  const code: unknown = bytecodes.AgentHealthOracle;
  if (!isHex(code)) throw new Error("contracts/bytecode.json holds no AgentHealthOracle");
  return code;
}
