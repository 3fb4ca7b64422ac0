import { BlockNotFoundError, numberToHex, type PublicClient, zeroAddress, zeroHash } from "viem";
import { type Check, concern, fault, fine, type Verdict } from "../check.ts";
import type { Deployment } from "./deployments.ts";
import { LOCAL_CHAIN_ID } from "./networks.ts";
import { nodeFailureOf } from "./node/failure.ts";

/** Checks of the node that serves a deployment's chain. */
export function nodeChecks(
  client: PublicClient,
  {
    deployment: { chainId, startBlock, finalityBlocks },
    needsOtterscan,
    now,
  }: {
    readonly deployment: Pick<Deployment, "chainId" | "startBlock" | "finalityBlocks">;
    /** True if this node is the source of account facts and histories. */
    readonly needsOtterscan: boolean;
    readonly now: () => Date;
  },
): readonly Check[] {
  const isLocal = chainId === LOCAL_CHAIN_ID;
  return [
    { name: "chain", run: async () => judgeChainId(await client.getChainId(), chainId) },
    {
      name: "node",
      run: async () => judgeHead({ ...(await probeHead(client, now())), finalityBlocks, isLocal }),
    },
    {
      name: "node methods",
      run: async () => {
        const answers = await probeMethods(client, startBlock);
        // The local chain is loaded from a file, which has no state of old blocks.
        return judgeMethods({ ...answers, ...(isLocal ? { archive: null } : {}), needsOtterscan });
      },
    },
  ];
}

/** Whether the node serves the chain of the deployment. */
export function judgeChainId(actual: number, expected: number): Verdict {
  return actual === expected
    ? fine(`chain ${actual}`)
    : fault(
        `the node serves chain ${actual}, the deployment is of ${expected}`,
        "set RPC_URL or AHS_DEPLOYMENT",
      );
}

/** Seconds after which a node is behind its chain; and how far its clock may be ahead. */
const [OLD_HEAD, DEAD_HEAD, AHEAD] = [60, 600, -15];

/** Whether the node follows its chain, and whether what we call final is final there. */
export function judgeHead(head: {
  ageSeconds: number;
  /** Blocks between the node's newest and its finalized one; null where it names none. */
  finalizedDepth: number | null;
  finalityBlocks: number;
  isLocal: boolean;
}): Verdict {
  const { ageSeconds, finalizedDepth, finalityBlocks, isLocal } = head;
  const detail = `newest block ${Math.round(ageSeconds)} s old`;
  if (isLocal) return fine(detail);
  if (ageSeconds > DEAD_HEAD) return fault(detail, "the node does not follow its chain: use another");
  if (ageSeconds < AHEAD)
    return fault(`newest block ${Math.round(-ageSeconds)} s in the future`, "set this machine's clock (NTP)");
  if (ageSeconds > OLD_HEAD) return concern(detail, "the node is behind: watch it, or use another");
  if (finalizedDepth === null)
    return concern(`${detail}, no finalized block named`, "use a node that knows the tag finalized");
  const depth = `${detail}, finality ${finalizedDepth} blocks behind`;
  return finalizedDepth > finalityBlocks * 2
    ? concern(depth, `finalityBlocks is ${finalityBlocks}: what counts as final could still be replaced`)
    : fine(depth);
}

/** Ages of the node's newest block and of its finalized block. */
async function probeHead(client: PublicClient, now: Date) {
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

type Answered = "answered" | "missing" | "failed";

/** Whether the node has what we ask it for; each method that is missing costs something else. */
export function judgeMethods(facts: {
  blockReceipts: Answered;
  /** Null on a chain that keeps no state of old blocks by design. */
  archive: Answered | null;
  otterscan: Answered;
  simulate: Answered;
  traces: Answered;
  /** True if this node is the source of account facts and histories. */
  needsOtterscan: boolean;
}): readonly Verdict[] {
  const { blockReceipts, archive, otterscan, simulate, traces, needsOtterscan } = facts;
  return [
    judgeMethod("eth_getBlockReceipts", blockReceipts, "each own call costs a request of its own without it"),
    ...(archive === null
      ? []
      : [
          judgeMethod(
            "state of the deployment's first block",
            archive,
            "old facts can be read from an archive node only",
          ),
        ]),
    needsOtterscan
      ? otterscan === "answered"
        ? fine("ots_ methods: answered")
        : fault(`ots_ methods: ${otterscan}`, "set HISTORY_URL to a node that has them, or HISTORY_SOURCE")
      : judgeMethod("ots_ methods", otterscan, "creators, first funders and ages of accounts stay unknown"),
    judgeMethod("eth_simulateV1", simulate, "several transactions of /retry cannot be simulated together"),
    judgeMethod(
      "debug_traceTransaction",
      traces,
      "native coin that smart accounts pay stays unknown, and does not count for them",
    ),
  ];
}

function judgeMethod(what: string, answered: Answered, cost: string): Verdict {
  return answered === "answered" ? fine(`${what}: answered`) : concern(`${what}: ${answered}`, cost);
}

/** Which methods the node has, each asked once in a cheap way. */
async function probeMethods(client: PublicClient, firstBlock: number) {
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
