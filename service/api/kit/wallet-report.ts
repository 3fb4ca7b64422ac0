import { z } from "@hono/zod-openapi";
import type { Logger } from "pino";
import type { Address } from "viem";
import { Problem, unavailable } from "../../access/problems.ts";
import { SECONDS_PER_DAY } from "../../model/features/time.ts";
import type { AsOf, WalletRows } from "../../model/features/types.ts";
import { UNUSED_DAYS } from "../../reports/diagnosis/approvals.ts";
import type { WalletSnapshot } from "../../scores/scores.ts";
import { blockSchema, chainIdSchema, coverageSchema, renderCoverage } from "../schemas/ahs-record.ts";
import { isoOf, isoSchema, toEip55 } from "../schemas/values.ts";

/** The calls that count as use of an approval: those of the last 90 days. */
export function ninetyDays(wallet: Address, { asOf }: ReportSource) {
  const since = asOf.timestamp - UNUSED_DAYS * SECONDS_PER_DAY;
  return { wallet, throughBlock: asOf.blockNumber, since };
}

/** Input of a report about a followed wallet. */
export type ReportSource = { readonly rows: WalletRows; readonly asOf: AsOf };

export type ReportPorts = WalletPorts & {
  /** Rows of a wallet at the newest finalized and enriched block; null while no such block exists. Unknown wallets have no calls. */
  readonly readWallet: (address: Address) => Promise<ReportSource | null>;
} & ReportRoom;

/** Limits how many reports a process reads at once. */
export type ReportRoom = { readonly reportTurns: Pick<ReportTurns, "hasRoom"> };

/** Members of every report: its chain, block, window and coverage. */
export const reportScopeShape = {
  chain_id: chainIdSchema,
  as_of_block: blockSchema,
  as_of_time: isoSchema,
  window: z
    .object({
      from: isoSchema.openapi({ example: "2026-05-24T09:58:00.000Z" }),
      to: isoSchema,
      days: z.int().positive().openapi({ example: 180 }),
    })
    .openapi("ReportWindow", { description: "Own calls before it are not looked at" }),
  coverage: coverageSchema,
  accounts_left_out: z.int().positive().optional().openapi({
    description:
      "Of a wallet whose calls show more than 20,000 accounts in their logs: how many of these were not looked at. What is said of owners, users and flags leaves them out. Absent where none was",
  }),
} as const;

const scopeSchema = z.object(reportScopeShape);

const RETRY_AFTER_SECONDS = 10;

/** The scope of a report over the last `days` before its block. */
export function reportScope(
  {
    rows,
    asOf,
  }: { readonly rows: Pick<WalletRows, "chainId" | "coverage" | "accountsLeftOut">; readonly asOf: AsOf },
  days: number,
): z.infer<typeof scopeSchema> {
  const { coverage, chainId, accountsLeftOut } = rows;
  return {
    chain_id: chainId,
    as_of_block: asOf.blockNumber,
    as_of_time: isoOf(asOf.timestamp),
    window: { from: isoOf(asOf.timestamp - days * SECONDS_PER_DAY), to: isoOf(asOf.timestamp), days },
    coverage: renderCoverage(coverage),
    ...(accountsLeftOut === undefined ? {} : { accounts_left_out: accountsLeftOut }),
  };
}

/** Throws a 404 for a wallet that the index does not follow, and a 503 if the index is empty or too old. */
export async function requireFollowed(address: Address, ports: WalletPorts, now: Date): Promise<void> {
  const { followed } = await freshStanding(address, ports, now);
  if (!followed) throw notIndexed(address);
}

/** As `requireFollowed`; also throws a 503 if the queue of reports is full. */
export async function requireReadable(
  address: Address,
  ports: WalletPorts & ReportRoom,
  now: Date,
): Promise<void> {
  await requireFollowed(address, ports, now);
  if (!ports.reportTurns.hasRoom()) throw tooManyReports();
}

/** Rows of a followed wallet. Throws a 503 problem while no block is both final and enriched. */
export async function readReport(address: Address, ports: ReportPorts): Promise<ReportSource> {
  const source = await ports.readWallet(address);
  if (source !== null) return source;
  throw unavailable("scoring-unavailable", "No block is both final and enriched yet.", {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}

/** The 404 of a wallet that the index does not follow. */
export function notIndexed(address: Address): Problem {
  return new Problem(
    "not-indexed",
    `The index does not follow ${toEip55(address)}, or not yet up to the newest finalized and enriched block. It follows registered agents, wallets whose score was requested from the oracle and, where a source of history is set, those whose score somebody paid for by GET /ahs/{address}.`,
  );
}

/** Ports of every endpoint about a wallet. */
export type WalletPorts = {
  readonly logger: Logger;
  readonly scores: { standing(address: Address): Promise<WalletSnapshot> };
  /** Records that the wallet was read; the on-chain heartbeat depends on it. */
  readonly recordInterest: (address: Address) => Promise<void>;
  /** Seconds after which the newest indexed block counts as too old to answer from. */
  readonly maxIndexAgeSeconds: number;
};

/** Stored state of a wallet. Throws a 503 problem if the index is empty or too old. */
export async function freshStanding(
  address: Address,
  ports: WalletPorts,
  now: Date,
): Promise<WalletSnapshot> {
  const standing = await ports.scores.standing(address);
  const { head } = standing;
  const options = { retryAfterSeconds: RETRY_AFTER_SECONDS };
  if (head === null) throw unavailable("index-unavailable", "The index holds no block yet.", options);
  const ageSeconds = Math.floor(now.getTime() / 1000) - head.timestamp;
  if (ageSeconds > ports.maxIndexAgeSeconds) {
    const detail = `The newest indexed block, ${head.blockNumber}, is ${ageSeconds} s old; at most ${ports.maxIndexAgeSeconds} s are allowed.`;
    throw unavailable("index-behind", detail, options);
  }
  return standing;
}

/** Records interest without waiting. A failure is logged and does not fail the answer. */
export function noteInterest(address: Address, ports: WalletPorts): void {
  ports.recordInterest(address).catch((error: unknown) => {
    ports.logger.warn({ err: error, wallet: address }, "interest not recorded");
  });
}

/** A queue for report reads, so that many reports do not block other requests. */
export type ReportTurns = {
  /** Whether one more read would start or fit into the queue. */
  hasRoom(): boolean;
  /** Waits for a turn and reads. Throws a 503 problem if the queue is full or the wait is too long. */
  take<Result>(read: () => Promise<Result>): Promise<Result>;
};

const TURN_RETRY_SECONDS = 5;

/** A queue that serves reads in the order of their arrival. */
export function createReportTurns({
  atOnce,
  waiting,
  waitMs,
}: {
  readonly atOnce: number;
  readonly waiting: number;
  /** Milliseconds. */
  readonly waitMs: number;
}): ReportTurns {
  const queue: (() => void)[] = [];
  let running = 0;

  function turn(): Promise<void> {
    return new Promise((resolve, reject) => {
      if (queue.length >= waiting) {
        reject(tooManyReports());
        return;
      }
      const enter = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        queue.splice(queue.indexOf(enter), 1);
        reject(tooManyReports());
      }, waitMs);
      queue.push(enter);
    });
  }

  return {
    hasRoom: () => running < atOnce || queue.length < waiting,
    async take(read) {
      if (running < atOnce) running += 1;
      else await turn();
      try {
        return await read();
      } finally {
        const next = queue.shift();
        // The longest waiting read takes over the place.
        if (next === undefined) running -= 1;
        else next();
      }
    },
  };
}

/** The 503 of a full queue of reports. */
export function tooManyReports(): Problem {
  return unavailable("scoring-unavailable", "This server computes as many reports as it can.", {
    retryAfterSeconds: TURN_RETRY_SECONDS,
  });
}
