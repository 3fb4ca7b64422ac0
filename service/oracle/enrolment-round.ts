import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { type Address, encodeFunctionData, getAddress } from "viem";
import { agentHealthOracleAbi } from "../chain/abi/agent-health-oracle.ts";
import { metricsOf } from "../db/metrics.ts";
import type { Backoff } from "../db/run-loop.ts";
import {
  type OrderRound,
  orderRound,
  repeatOrders,
  runOrders,
  type Settled,
} from "../sender/orders/run-orders.ts";
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
import { enrolmentKind, sendableToday } from "./plan-enrolment.ts";
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

type EnrolmentRound = OrderRound<{
  readonly sent: readonly string[];
  readonly settled: readonly Settled<EnrolmentRow>[];
  /** Why requests that are due were not sent; null where they were. */
  readonly held: "day" | "fee" | null;
}>;

/** One round: settle what was sent by what the index follows, then queue the requests that are due, within fee and day. */
export async function enrolmentRound(deps: EnrolmentRoundDeps): Promise<EnrolmentRound> {
  const { chainId, db, policy } = deps;
  // The node is asked before the transaction, which must not wait for it.
  const feeWei = (await hasDueEnrolment(db, chainId, deps.now())) ? await deps.readFee() : null;
  return orderRound(deps, {
    lock: "enrolment",
    readIndexedBlock,
    round: async (tx, { now, indexedBlock }) => {
      const rows = await readOpenEnrolments(tx, chainId, { now, limit: policy.batch });
      const due: EnrolmentRow[] = [];
      const settled = await runOrders(enrolmentKind({ ...deps, ...policy, indexedBlock }), {
        rows,
        now,
        indexedBlock,
        settle: async ({ row, step }) => {
          if (step.kind === "again" && row.state === "pending") due.push(row);
          else await patchEnrolment(tx, { chainId, wallet: row.wallet, from: row.state }, patchOf(step));
          return !due.includes(row);
        },
      });
      if (due.length === 0 || feeWei === null) return { sent: [], settled, held: null };
      if (feeWei > policy.maxFeeWei) return { sent: [], settled, held: "fee" };
      const sentToday = await countSentToday(tx, chainId, now);
      const sendable = sendableToday(due, { perDay: policy.perDay, sentToday });
      for (const row of sendable) await send(tx, row, { deps, feeWei });
      const sent = sendable.map(({ wallet }) => wallet);
      return { sent, settled, held: sent.length < due.length ? "day" : null };
    },
  });
}

function patchOf(step: Settled<EnrolmentRow>["step"]): Parameters<typeof patchEnrolment>[2] {
  switch (step.kind) {
    case "done":
      return { state: "followed", detail: null };
    case "end":
      return { state: "refused", detail: step.cause };
    case "again":
      return { state: "pending", detail: step.failure?.cause ?? null, notBefore: step.at };
    case "reopen":
      return { state: "sent" };
  }
}

async function send(
  tx: NodePgDatabase,
  { wallet, attempts }: EnrolmentRow,
  { deps, feeWei }: { readonly deps: EnrolmentRoundDeps; readonly feeWei: bigint },
): Promise<void> {
  const { chainId, sender, oracle } = deps;
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

/** While requests wait for another day or a lower fee, the node is not asked for the fee every second. */
const HELD_PAUSE_MS = 15_000;

/** Has paid-for wallets followed until the signal fires. */
export async function runEnrolments(
  deps: EnrolmentRoundDeps & {
    metrics: ReturnType<typeof createEnrolmentMetrics>;
    logger: Logger;
    pollMs: number;
  },
  signal: AbortSignal,
): Promise<void> {
  const { db, chainId, metrics } = deps;
  let held: "day" | "fee" | null = null;
  const pass = async () => {
    const round = await enrolmentRound(deps);
    report(deps, round, held);
    if (round.kind === "done") held = round.held;
    const open = await countOpenEnrolments(db, chainId);
    metrics.open.set({ state: "pending" }, open.pending);
    metrics.open.set({ state: "sent" }, open.sent);
  };
  const pauseMs = () => (held === null ? deps.pollMs : HELD_PAUSE_MS);
  await repeatOrders({ what: "enrolment round", pass, pauseMs }, deps, signal);
}

function report(
  { logger, policy }: Parameters<typeof runEnrolments>[0],
  round: EnrolmentRound,
  heldBefore: string | null,
): void {
  if (round.kind !== "done") return;
  if (round.sent.length > 0) logger.info({ wallets: round.sent }, "enrolments queued");
  for (const { row, step } of round.settled) {
    if (step.kind === "done") logger.info({ wallet: row.wallet }, "wallet enrolled");
    else logger.warn({ wallet: row.wallet, step }, "an enrolment came to nothing");
  }
  // Once when it begins, not at every round of it.
  if (round.held === heldBefore) return;
  if (round.held === "day") logger.warn({ perDay: policy.perDay }, "the day's enrolments are used up");
  if (round.held === "fee") {
    logger.warn({ maxFeeWei: `${policy.maxFeeWei}` }, "the oracle asks more for a request than is allowed");
  }
}
