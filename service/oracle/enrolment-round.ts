import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { type Address, encodeFunctionData, getAddress } from "viem";
import { agentHealthOracleAbi } from "../chain/abi/agent-health-oracle.ts";
import { holdChain } from "../db/chain-fence.ts";
import { tryTransactionLock } from "../db/leader-lock.ts";
import { metricsOf } from "../db/metrics.ts";
import { type Backoff, pauseAfter, runLoop } from "../db/run-loop.ts";
import { enqueueTransaction } from "../sender/sender-transactions.ts";
import {
  countOpenEnrolments,
  countSentToday,
  ENROL_PURPOSE,
  type EnrolmentRow,
  hasDueEnrolment,
  patchEnrolment,
  readOpenEnrolments,
} from "./enrolments.ts";
import { type EnrolmentFate, fateOfEnrolment, sendableToday } from "./plan-enrolment.ts";
import { readIndexedBlock } from "./publish-records.ts";

export type EnrolmentPolicy = {
  /** Requests sent in one UTC day, at most a quarter of them for registries; the others wait for the next. */
  readonly perDay: number;
  /** Wei that one request may cost beyond its gas; while the oracle asks for more, all wait. */
  readonly maxFeeWei: bigint;
  readonly retryMs: Backoff;
  /** Requests handed to the sender at once: publications must not wait behind them for long. */
  readonly batch: number;
};

type EnrolmentRoundDeps = {
  readonly chainId: number;
  /** Blocks behind the indexed one that cannot be reorged. */
  readonly finalityBlocks: number;
  readonly db: NodePgDatabase;
  readonly oracle: Address;
  /** The publisher's key: requests are queued for the process that sends for it. */
  readonly sender: Address;
  /** Reads the oracle's fee for a request, in wei; rejects when the node gives no answer. */
  readonly readFee: () => Promise<bigint>;
  readonly policy: EnrolmentPolicy;
  readonly now: () => Date;
};

/** Result of one round; "busy" when another process was in its round, "no_index" while there is nothing to compare with. */
type EnrolmentRound =
  | { readonly kind: "busy" | "no_index" }
  | {
      readonly kind: "done";
      readonly sent: readonly string[];
      readonly settled: readonly Settled[];
      /** Why requests that are due were not sent; null where they were. */
      readonly held: "day" | "fee" | null;
    };

type Settled = { readonly wallet: string; readonly fate: EnrolmentFate };
type Round = EnrolmentRoundDeps & { readonly at: Date };

/** One round: settle what was sent by what the index follows, then queue the requests that are due, within fee and day. */
export async function enrolmentRound(deps: EnrolmentRoundDeps): Promise<EnrolmentRound> {
  const { chainId, db, policy } = deps;
  const round = { ...deps, at: deps.now() };
  // The node is asked before the transaction, which must not wait for it.
  const feeWei = (await hasDueEnrolment(db, chainId, round.at)) ? await deps.readFee() : null;
  return db.transaction(async (tx): Promise<EnrolmentRound> => {
    if (!(await tryTransactionLock(tx, `ahs-enrolment:${chainId}`))) return { kind: "busy" };
    await holdChain(tx, chainId);
    const indexedBlock = await readIndexedBlock(tx, chainId);
    if (indexedBlock === null) return { kind: "no_index" };
    const rows = await readOpenEnrolments(tx, chainId, { now: round.at, limit: policy.batch });
    const judged = rows.map((row) => ({ row, fate: fateOfEnrolment(row, { ...deps, indexedBlock }) }));
    const settled = await settleAll(tx, judged, round);
    const due = judged.filter(({ fate }) => fate.kind === "send").map(({ row }) => row);
    if (due.length === 0 || feeWei === null) return { kind: "done", sent: [], settled, held: null };
    if (feeWei > policy.maxFeeWei) return { kind: "done", sent: [], settled, held: "fee" };
    const sentToday = await countSentToday(tx, chainId, round.at);
    const sendable = sendableToday(due, { perDay: policy.perDay, sentToday });
    for (const row of sendable) await send(tx, row, { round, feeWei });
    const sent = sendable.map(({ wallet }) => wallet);
    return { kind: "done", sent, settled, held: sent.length < due.length ? "day" : null };
  });
}

async function settleAll(
  tx: NodePgDatabase,
  judged: readonly { row: EnrolmentRow; fate: EnrolmentFate }[],
  round: Round,
): Promise<Settled[]> {
  const settled: Settled[] = [];
  for (const { row, fate } of judged) {
    const patch = patchOf(row, fate, round);
    if (patch === null) continue;
    await patchEnrolment(tx, { chainId: round.chainId, wallet: row.wallet, from: row.state }, patch);
    settled.push({ wallet: row.wallet, fate });
  }
  return settled;
}

function patchOf(
  row: EnrolmentRow,
  fate: EnrolmentFate,
  { policy, at }: Round,
): Parameters<typeof patchEnrolment>[2] | null {
  switch (fate.kind) {
    case "wait":
    case "send":
      return null;
    case "followed":
      return { state: "followed", detail: null };
    case "refused":
      return { state: "refused", detail: fate.detail };
    case "retry": {
      const notBefore = new Date(at.getTime() + pauseAfter(row.attempts - 1, policy.retryMs));
      return { state: "pending", detail: fate.detail, notBefore };
    }
  }
}

async function send(
  tx: NodePgDatabase,
  { wallet, attempts }: EnrolmentRow,
  { round, feeWei }: { readonly round: Round; readonly feeWei: bigint },
): Promise<void> {
  const { chainId, sender, oracle } = round;
  const attempt = attempts + 1;
  const senderTransactionId = await enqueueTransaction(tx, {
    chainId,
    sender,
    reference: `${ENROL_PURPOSE}:${wallet}:${attempt}`,
    purpose: ENROL_PURPOSE,
    to: oracle,
    data: encodeFunctionData({
      abi: agentHealthOracleAbi,
      functionName: "requestScore",
      args: [getAddress(wallet)],
    }),
    value: feeWei,
  });
  const patch = { state: "sent", senderTransactionId, attempts: attempt, notBefore: null } as const;
  await patchEnrolment(tx, { chainId, wallet, from: "pending" }, patch);
}

export function createEnrolmentMetrics(registry: Registry) {
  const { gauge } = metricsOf(registry);
  return {
    open: gauge(
      "ahs_enrolments_open",
      "Wallets that wait to be followed, by state: pending (not asked for yet) or sent",
      "state",
    ),
  };
}

const LONGEST_PAUSE_MS = 30_000;
/** While requests wait for another day or a lower fee, the node is not asked for the fee every second. */
const HELD_PAUSE_MS = 15_000;

/**
 * Has paid-for wallets followed until the signal fires: one round after the other, each a single database transaction, so
 * that any number of processes may run it and any of them may die. Never throws; a round that fails is tried again.
 */
export async function runEnrolments(
  deps: EnrolmentRoundDeps & {
    metrics: ReturnType<typeof createEnrolmentMetrics>;
    logger: Logger;
    pollMs: number;
  },
  signal: AbortSignal,
): Promise<void> {
  const { db, chainId, metrics, logger, pollMs } = deps;
  let held: "day" | "fee" | null = null;
  await runLoop({
    logger,
    what: "enrolment round",
    signal,
    pauseMs: () => (held === null ? pollMs : HELD_PAUSE_MS),
    retryMs: { first: 2 * pollMs, longest: LONGEST_PAUSE_MS },
    pass: async () => {
      const round = await enrolmentRound(deps);
      report(deps, round, held);
      if (round.kind === "done") held = round.held;
      const open = await countOpenEnrolments(db, chainId);
      metrics.open.set({ state: "pending" }, open.pending);
      metrics.open.set({ state: "sent" }, open.sent);
    },
  });
}

function report(
  { logger, policy }: Parameters<typeof runEnrolments>[0],
  round: EnrolmentRound,
  heldBefore: string | null,
): void {
  if (round.kind !== "done") return;
  if (round.sent.length > 0) logger.info({ wallets: round.sent }, "enrolments queued");
  for (const { wallet, fate } of round.settled) {
    if (fate.kind === "followed") logger.info({ wallet }, "wallet enrolled");
    else logger.warn({ wallet, fate }, "an enrolment came to nothing");
  }
  // Once when it begins, not at every round of it.
  if (round.held === heldBefore) return;
  if (round.held === "day") logger.warn({ perDay: policy.perDay }, "the day's enrolments are used up");
  if (round.held === "fee") {
    logger.warn({ maxFeeWei: `${policy.maxFeeWei}` }, "the oracle asks more for a request than is allowed");
  }
}
