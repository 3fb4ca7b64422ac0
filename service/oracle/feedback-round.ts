import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import {
  encodeFunctionData,
  type Hex,
  isAddressEqual,
  type PublicClient,
  pad,
  slice,
  TransactionReceiptNotFoundError,
  toEventSelector,
  toHex,
} from "viem";
import { getAbiItem } from "viem/utils";
import { reputationRegistryAbi } from "../chain/abi/reputation-registry.ts";
import { metricsOf } from "../db/metrics.ts";
import { type Fault, quarantineItems, releaseItems } from "../db/quarantine.ts";
import type { Evidence, OrderKind, Step } from "../sender/orders/order-kind.ts";
import { type OrderRound, orderRound, repeatOrders, runOrders } from "../sender/orders/run-orders.ts";
import { enqueueTransaction } from "../sender/sender-transactions.ts";
import { composeFeedback, type FeedbackPlace } from "./feedback-document.ts";
import type { FeedbackScope } from "./feedback-rows.sql.ts";
import {
  FEEDBACK_PURPOSE,
  type FeedbackRow,
  forgetEntry,
  insertFeedback,
  patchFeedback,
  readFeedbackCandidates,
  readFeedbackSpending,
  readUnsettledFeedback,
  type ScoredCandidate,
} from "./feedback-rows.ts";
import { type FeedbackPolicy, planFeedback } from "./plan-feedback.ts";
import { readIndexedBlock } from "./publish-records.ts";

type FeedbackDeps = FeedbackScope &
  FeedbackPlace & {
    readonly db: NodePgDatabase;
    readonly node: Pick<PublicClient, "getTransactionReceipt" | "estimateFeesPerGas" | "readContract">;
    readonly policy: FeedbackPolicy;
    readonly now: () => Date;
  };

type Settled = {
  readonly agentId: bigint;
  readonly kind: FeedbackRow["kind"];
  /** Why the registry refused it; null if it is in a block. */
  readonly refusal: string | null;
};

export type FeedbackRound = OrderRound<{
  readonly settled: readonly Settled[];
  readonly sent: readonly { readonly agentId: bigint; readonly kind: FeedbackRow["kind"] }[];
  readonly held: number;
  readonly spentWei: bigint;
}>;

/**
 * One round: settle the calls that are in a block or came to nothing, then queue those that are due. The row of a call, its
 * document and its transaction are one database transaction. Before feedback is given, the registry is asked for an entry of ours that
 * the table lacks, as after a restored backup; such an entry is revoked first.
 */
export async function feedbackRound(deps: FeedbackDeps): Promise<FeedbackRound> {
  const first = await runOnce(deps, new Map());
  if (first.kind !== "done" || first.unchecked.length === 0) return first;
  const second = await runOnce(deps, await readLiveEntries(deps, first.unchecked));
  if (second.kind !== "done") return first;
  return {
    ...second,
    settled: [...first.settled, ...second.settled],
    sent: [...first.sent, ...second.sent],
  };
}

/** Index of the newest entry of ours in the registry, by agent; null if it is revoked, and without one. */
type LiveEntries = ReadonlyMap<bigint, bigint | null>;

async function readLiveEntries(
  { node, registry, client }: Pick<FeedbackDeps, "node" | "registry" | "client">,
  agentIds: readonly bigint[],
): Promise<LiveEntries> {
  const contract = { address: registry, abi: reputationRegistryAbi } as const;
  const live = new Map<bigint, bigint | null>();
  for (const agentId of agentIds) {
    const index = await node.readContract({
      ...contract,
      functionName: "getLastIndex",
      args: [agentId, client],
    });
    const isLive = async () => {
      const args = [agentId, client, index] as const;
      const [, , , , isRevoked] = await node.readContract({
        ...contract,
        functionName: "readFeedback",
        args,
      });
      return !isRevoked;
    };
    live.set(agentId, index > 0n && (await isLive()) ? index : null);
  }
  return live;
}

async function runOnce(deps: FeedbackDeps, live: LiveEntries) {
  const { db, policy } = deps;
  // The node is asked before the transaction, which must not wait for it.
  const indexes = await readIndexes(deps, await readUnsettledFeedback(db, deps));
  const { maxFeePerGas: weiPerGas } = await deps.node.estimateFeesPerGas();
  return orderRound(deps, {
    lock: "feedback",
    readIndexedBlock,
    round: async (tx, { now }) => {
      const settled = await settleFeedback(tx, { deps, indexes, now });
      const expectedWei = policy.expectedGas.give * weiPerGas;
      const spent = await readFeedbackSpending(tx, deps, { now, expectedWei });
      const { wallet: perWallet, owner: perOwner } = policy.mostPerDay;
      const candidates = await readFeedbackCandidates(tx, deps, { now, perWallet, perOwner });
      const { acts, held } = planFeedback(candidates, { ...spent, weiPerGas }, policy);
      const sent: { agentId: bigint; kind: FeedbackRow["kind"] }[] = [];
      /** Agents that feedback is due for, and whose entries were not asked for. */
      const unchecked: bigint[] = [];
      for (const act of acts) {
        const { agentId } = act.candidate;
        const index = live.get(agentId);
        if (act.kind === "give" && index === undefined) {
          unchecked.push(agentId);
          continue;
        }
        const due = act.kind === "give" && index != null ? revokeFirst(act.candidate, index) : act;
        await send(tx, due, { deps, now });
        sent.push({ kind: due.kind, agentId });
      }
      return { settled, sent, unchecked, held, spentWei: spent.spentWei };
    },
  });
}

const NEW_FEEDBACK = toEventSelector(getAbiItem({ abi: reputationRegistryAbi, name: "NewFeedback" }));

/** The place that the registry gave to each mined feedback, by row; null where its block shows none. Those that a reorg took out are left out. */
async function readIndexes(
  { node, registry, client }: Pick<FeedbackDeps, "node" | "registry" | "client">,
  rows: readonly FeedbackRow[],
): Promise<ReadonlyMap<number, number | null>> {
  const indexes = new Map<number, number | null>();
  for (const { id, agentId, kind, transaction } of rows) {
    const hash = transaction.minedHash;
    if (kind !== "give" || transaction.state !== "mined" || hash === null) continue;
    const receipt = await node.getTransactionReceipt({ hash }).catch((error: unknown) => {
      if (error instanceof TransactionReceiptNotFoundError) return null;
      throw error;
    });
    const log = receipt?.logs.find(
      ({ address, topics }) =>
        isAddressEqual(address, registry) &&
        topics[0] === NEW_FEEDBACK &&
        topics[1] === toHex(agentId, { size: 32 }) &&
        topics[2] === pad(client.toLowerCase() as Hex),
    );
    // The index is the first word of the event's data.
    if (receipt !== null) indexes.set(id, log === undefined ? null : Number(BigInt(slice(log.data, 0, 32))));
  }
  return indexes;
}

/** The registry does not hold what was to be taken back: then there is nothing to do. */
const GONE = /Already revoked|index out of bounds/;

/** Calls to the registry: done in the newest block, feedback with the index that its event there gives. */
function feedbackKind(indexes: ReadonlyMap<number, number | null>) {
  return {
    done: "newest block",
    isRepeatable: false,
    // A row is one attempt: the next one is planned anew, once the quarantine lets it.
    retryMs: { first: 0, longest: 0 },
    isForGood: ({ cause }, { kind }) => kind === "revoke" && GONE.test(cause),
    look: ({ id, kind, transaction }) => {
      const index = indexes.get(id) ?? null;
      const isMined = kind === "give" && transaction.state === "mined";
      const isLost = isMined && transaction.final && indexes.has(id) && index === null;
      return {
        transaction,
        failures: 0,
        shown: isMined && !isLost ? (index === null ? "soon" : "done") : null,
        ended: isLost ? "its block shows no feedback" : null,
        index,
      };
    },
  } satisfies OrderKind<FeedbackRow, Evidence & { readonly index: number | null }>;
}

/** Settles calls, quarantines agents that the registry refuses, and releases the others. */
async function settleFeedback(
  tx: NodePgDatabase,
  { deps, indexes, now }: { deps: FeedbackDeps; indexes: ReadonlyMap<number, number | null>; now: Date },
): Promise<Settled[]> {
  const scope = { chainId: deps.chainId, kind: "feedback" } as const;
  const sound: string[] = [];
  const faults: Fault[] = [];
  const settled: Settled[] = [];
  await runOrders(feedbackKind(indexes), {
    rows: await readUnsettledFeedback(tx, deps),
    now,
    settle: async ({ row: { id, agentId, kind }, step, seen }) => {
      const refusal = refusalOf(kind, step);
      settled.push({ agentId, kind, refusal });
      const given = kind === "give" ? { feedbackIndex: seen.index } : {};
      await patchFeedback(
        tx,
        id,
        refusal === null ? { state: "confirmed", ...given } : { state: "failed", error: refusal },
      );
      const isGone = kind === "revoke" && step.kind === "end";
      if (isGone) await forgetEntry(tx, deps, agentId);
      if (refusal === null || isGone) sound.push(`${agentId}`);
      else faults.push({ subject: `${agentId}`, error: new Error(refusal) });
    },
  });
  await releaseItems(tx, scope, sound);
  await quarantineItems(tx, scope, { faults, now });
  return settled;
}

/** Why a call came to nothing; null if it is in a block. */
function refusalOf(kind: FeedbackRow["kind"], step: Step): string | null {
  if (step.kind === "end") return `${kind}: ${step.cause}`;
  return step.kind === "again" ? `${kind}: ${step.failure?.cause ?? "it has no transaction"}` : null;
}

/** The call that revokes an entry of ours which the table lacks; feedback is given once that is settled. */
function revokeFirst(candidate: ScoredCandidate, index: bigint) {
  const entry = candidate.wanted === null ? null : { ...candidate.wanted, index: Number(index) };
  return { kind: "revoke" as const, candidate: { ...candidate, entry } };
}

/** Writes the row of one call and queues it. */
async function send(
  tx: NodePgDatabase,
  { kind, candidate }: { kind: FeedbackRow["kind"]; candidate: ScoredCandidate },
  { deps, now }: { deps: FeedbackDeps; now: Date },
): Promise<void> {
  const call = kind === "give" ? giveCall(candidate, deps, now) : revokeCall(candidate);
  if (call === null) return;
  const { data, ...row } = call;
  const { chainId, registry, client } = deps;
  const id = await insertFeedback(tx, {
    chainId,
    registry,
    client,
    kind,
    ...row,
    agentId: candidate.agentId,
    createdAt: now,
  });
  const senderTransactionId = await enqueueTransaction(tx, {
    chainId,
    sender: client,
    reference: `${FEEDBACK_PURPOSE}:${id}`,
    purpose: FEEDBACK_PURPOSE,
    to: registry,
    data,
    value: 0n,
  });
  await patchFeedback(tx, id, { senderTransactionId });
}

function giveCall({ agentId, wanted, score }: ScoredCandidate, deps: FeedbackDeps, createdAt: Date) {
  if (wanted === null || score === null) return null;
  return {
    wallet: score.wallet,
    label: wanted.label,
    ...composeFeedback({ agentId, score, createdAt }, deps),
  };
}

function revokeCall({ agentId, entry }: ScoredCandidate) {
  if (entry === null) return null;
  const { wallet, label, index } = entry;
  const args = [agentId, BigInt(index)] as const;
  const data = encodeFunctionData({ abi: reputationRegistryAbi, functionName: "revokeFeedback", args });
  return { wallet, label, document: null, documentHash: null, data };
}

export function createFeedbackMetrics(registry: Registry) {
  const { counter, gauge } = metricsOf(registry);
  return {
    confirmed: counter(
      "ahs_feedback_total",
      "Calls to the reputation registry that are in a block, by kind: give or revoke",
      "kind",
    ),
    refused: counter(
      "ahs_feedback_refused_total",
      "Calls that the reputation registry refused; their agents are quarantined",
    ),
    waiting: gauge("ahs_feedback_waiting", "Changes of feedback that wait for money of the day or for room"),
    spentWei: gauge(
      "ahs_feedback_spent_wei",
      "Cost of today's calls to the reputation registry, those under way at their limit",
    ),
  };
}

/** Leaves feedback until the signal fires. */
export async function runFeedback(
  deps: FeedbackDeps & {
    readonly metrics: ReturnType<typeof createFeedbackMetrics>;
    readonly logger: Logger;
    readonly pollMs: number;
  },
  signal: AbortSignal,
): Promise<void> {
  const pass = async () => report(deps, await feedbackRound(deps));
  await repeatOrders({ what: "feedback round", pass }, deps, signal);
}

function report({ metrics, logger }: Parameters<typeof runFeedback>[0], round: FeedbackRound): void {
  if (round.kind !== "done") return;
  for (const { kind, agentId, refusal } of round.settled) {
    if (refusal === null) metrics.confirmed.inc({ kind });
    else {
      metrics.refused.inc();
      logger.warn({ agentId: `${agentId}`, refusal }, "feedback refused");
    }
  }
  metrics.waiting.set(round.held);
  metrics.spentWei.set(Number(round.spentWei));
  if (round.sent.length > 0) logger.info({ calls: round.sent.length, held: round.held }, "feedback queued");
}
