import {
  type Address,
  BaseError,
  BlockNotFoundError,
  numberToHex,
  type PublicClient,
  parseAbi,
  zeroAddress,
  zeroHash,
} from "viem";
import { agentHealthOracleAbi } from "../../service/chain/abi/agent-health-oracle.ts";
import { assuranceAccountsAbi } from "../../service/chain/abi/assurance-accounts.ts";
import { reputationRegistryAbi } from "../../service/chain/abi/reputation-registry.ts";
import { verdictEvaluatorAbi } from "../../service/chain/abi/verdict-evaluator.ts";
import type { Deployment } from "../../service/chain/deployments.ts";
import { nodeFailureOf } from "../../service/chain/node/failure.ts";
import { mapLimited } from "../../service/net/map-limited.ts";
import type { Answered } from "./judge-chain.ts";

/** Requests under way at once: public nodes refuse crowds. */
const AT_ONCE = 6;
const FEED = parseAbi([
  "function latestRoundData() view returns (uint80 round, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredIn)",
]);

/** Ages of the node's newest block and of its finalized block. */
export async function probeHead(client: PublicClient, now: Date) {
  const head = await client.getBlock({ blockTag: "latest" });
  const finalized = await client.getBlock({ blockTag: "finalized" }).catch((error: unknown) => {
    const failure = nodeFailureOf(error);
    const isAnswer = failure !== null && failure.code !== null && !failure.mayPass;
    if (error instanceof BlockNotFoundError || isAnswer) return null;
    throw error;
  });
  return {
    ageSeconds: now.getTime() / 1_000 - Number(head.timestamp),
    finalizedDepth: finalized === null ? null : Number(head.number - finalized.number),
  };
}

/** Which methods the node has, each asked once in a cheap way. */
export async function probeMethods(client: PublicClient, firstBlock: number) {
  const ask = (method: string, params: readonly unknown[]) => answered(client, method, params);
  const [blockReceipts, archive, otterscan, simulate, traces] = await Promise.all([
    ask("eth_getBlockReceipts", ["latest"]),
    ask("eth_getBalance", [zeroAddress, numberToHex(firstBlock)]),
    ask("ots_getApiLevel", []),
    ask("eth_simulateV1", [{ blockStateCalls: [{ calls: [] }] }, "latest"]),
    probeTraces(client),
  ]);
  return { blockReceipts, archive, otterscan, simulate, traces };
}

/** Asks for a trace of the newest block's first transaction; in an empty block a refusal shows that there is the method. */
async function probeTraces(client: PublicClient): Promise<Answered> {
  const { transactions } = await client.getBlock({ blockTag: "latest" });
  const [hash] = transactions;
  const params = [hash ?? zeroHash, { tracer: "callTracer" }];
  const answer = await answered(client, "debug_traceTransaction", params);
  return hash === undefined && answer === "failed" ? "answered" : answer;
}

async function answered(client: PublicClient, method: string, params: readonly unknown[]): Promise<Answered> {
  try {
    // viem knows the standard's methods alone by type, and sends any.
    await client.request({ method, params } as unknown as Parameters<PublicClient["request"]>[0]);
    return "answered";
  } catch (error) {
    return nodeFailureOf(error)?.kind === "method_missing" ? "missing" : "failed";
  }
}

/** Which addresses have code now. */
export async function probeCode(client: PublicClient, addresses: readonly Address[]) {
  const codes = await mapLimited(addresses, AT_ONCE, async (address) => ({
    address,
    code: await client.getCode({ address }),
  }));
  return new Set(
    codes.filter(({ code }) => code !== undefined && code !== "0x").map(({ address }) => address),
  );
}

/** Asks each feed of the market once; a failing feed has no age. */
export async function probeFeeds(client: PublicClient, { market }: Pick<Deployment, "market">, now: Date) {
  const { native, tokens } = market;
  const symbols = new Map<Address, string>();
  for (const { feed, symbol } of [native, ...tokens]) {
    if (feed !== null && !symbols.has(feed)) symbols.set(feed, symbol);
  }
  return mapLimited([...symbols], AT_ONCE, async ([address, symbol]) => {
    try {
      const [, answer, , updatedAt] = await client.readContract({
        ...{ address, abi: FEED, functionName: "latestRoundData" },
      });
      const ageSeconds = now.getTime() / 1_000 - Number(updatedAt);
      return { symbol, address, ageSeconds, isPositive: answer > 0n };
    } catch (error) {
      if (!(error instanceof BaseError)) throw error;
      return { symbol, address, ageSeconds: null, isPositive: false };
    }
  });
}

/** Signers and writers that our contracts accept. */
export async function probeRoles(
  client: PublicClient,
  { oracle, verdictEvaluator }: Pick<Deployment, "oracle" | "verdictEvaluator">,
) {
  const contract = { address: oracle.address, abi: agentHealthOracleAbi } as const;
  const evaluator = verdictEvaluator?.address;
  const [publisher, signers, verdictSigners] = await Promise.all([
    client.readContract({ ...contract, functionName: "publisher" }),
    client.readContract({ ...contract, functionName: "signers" }),
    evaluator === undefined
      ? null
      : client.readContract({ address: evaluator, abi: verdictEvaluatorAbi, functionName: "signers" }),
  ]);
  return { publisher, signers, verdictSigners };
}

/** The oracle's fee for a request, in wei. */
export function probeRequestFee(
  client: PublicClient,
  { oracle }: Pick<Deployment, "oracle">,
): Promise<bigint> {
  return client.readContract({
    ...{ address: oracle.address, abi: agentHealthOracleAbi, functionName: "requestFee" },
  });
}

/** The registry of whose agents the reputation registry keeps feedback, and the one of the deployment; null without the former. */
export async function probeFeedback(
  client: PublicClient,
  { reputationRegistry, identityRegistry }: Pick<Deployment, "reputationRegistry" | "identityRegistry">,
): Promise<{ readonly agentsOf: Address; readonly expected: Address } | null> {
  if (reputationRegistry === null) return null;
  const agentsOf = await client.readContract({
    address: reputationRegistry,
    abi: reputationRegistryAbi,
    functionName: "getIdentityRegistry",
  });
  return { agentsOf, expected: identityRegistry.address };
}

/** The evaluator and the USDC whose jobs and money bonds secure, beside those of the deployment; null without bonds. */
export async function probeBonds(
  client: PublicClient,
  { assuranceAccounts, verdictEvaluator, usdc }: Deployment,
): Promise<{ readonly found: readonly Address[]; readonly expected: readonly (Address | null)[] } | null> {
  if (assuranceAccounts === null) return null;
  const contract = { address: assuranceAccounts.address, abi: assuranceAccountsAbi } as const;
  const found = await Promise.all([
    client.readContract({ ...contract, functionName: "evaluator" }),
    client.readContract({ ...contract, functionName: "usdc" }),
  ]);
  return { found, expected: [verdictEvaluator?.address ?? null, usdc] };
}

/** Block of the newest head as a source of history is asked about it. */
export async function probeNewest(client: PublicClient) {
  const { number, hash, timestamp } = await client.getBlock({ blockTag: "latest" });
  return { blockNumber: Number(number), blockHash: hash, timestamp: Number(timestamp) };
}
