import { z } from "@hono/zod-openapi";
import type { Address } from "viem";
import { Problem, unavailable } from "../../access/problems.ts";
import { freshnessOf } from "../../db/index-head.ts";
import { SECONDS_PER_DAY } from "../../model/features/time.ts";
import type { AsOf, WalletRows } from "../../model/features/types.ts";
import type { Policy } from "../../model/score/policy-shape.ts";
import { UNUSED_DAYS } from "../../reports/diagnosis/approvals.ts";
import type { ScoreReader, WalletSnapshot } from "../../scores/stored-score.ts";
import { blockSchema, chainIdSchema, coverageSchema, renderCoverage } from "../schemas/ahs-record.ts";
import { isoOf, isoSchema, toEip55 } from "../schemas/values.ts";
import { tooManyReports } from "./report-turns.ts";

/** The calls that count as use of an approval: those of the last 90 days. */
export function ninetyDays(wallet: Address, { asOf }: ReportSource) {
  const since = asOf.timestamp - UNUSED_DAYS * SECONDS_PER_DAY;
  return { wallet, throughBlock: asOf.blockNumber, since };
}

/** Rows of a wallet as of a block. */
export type ReportSource = { readonly rows: WalletRows; readonly asOf: AsOf };

/** Services of every endpoint about a wallet. */
export type WalletNeeds = {
  /** Seconds after which the newest indexed block counts as too old to answer from. */
  readonly maxIndexAgeSeconds: number;
  readonly scores: Pick<ScoreReader, "snapshot">;
};

/** Services of endpoints that score a wallet or report on it. */
export type ScoredNeeds = WalletNeeds & { readonly scores: Pick<ScoreReader, "atFinal"> };

/** Services of endpoints that read a wallet. */
export type ReportNeeds = {
  /** Rows of a wallet at the newest finalized and enriched block; null while no such block exists. */
  readonly readWallet: (address: Address) => Promise<ReportSource | "unknown" | null>;
  readonly policy: Policy;
};

/** Services of endpoints that read a wallet in a queue. */
export type ReadableNeeds = ScoredNeeds & {
  /** Limits how many reports a process reads at once. */
  readonly reportTurns: { hasRoom(): boolean };
};

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
    .openapi("ReportWindow", { description: "Own calls before it are not counted" }),
  coverage: coverageSchema,
  accounts_left_out: z.int().positive().optional().openapi({
    description:
      "Accounts skipped because the logs of the wallet's calls name more than 20,000. Owners, users and flags omit them. Absent if none was skipped",
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

/**
 * State of a wallet that the newest indexed block follows. Throws a 404 for any other wallet, and a 503 if the index is empty or too
 * old.
 */
export async function requireFollowed(
  address: Address,
  services: WalletNeeds,
  now: Date,
): Promise<WalletSnapshot> {
  const found = await freshSnapshot(address, services, now);
  if (!found.followed) throw notIndexed(address);
  return found;
}

/** State of a wallet, and whether it is known at the block at which it is scored. */
export type ScoredSnapshot = WalletSnapshot & { readonly known: boolean };

/**
 * The check of whatever is made of a wallet's rows, which are read at the newest finalized and enriched block. Throws the 503 of
 * `freshStanding`, and one while there is no such block.
 */
export async function scoredSnapshot(
  address: Address,
  services: ScoredNeeds,
  now: Date,
): Promise<ScoredSnapshot> {
  const [snapshot, final] = await Promise.all([
    freshSnapshot(address, services, now),
    services.scores.atFinal(address),
  ]);
  if (final === "no-block") throw noBlock();
  return { ...snapshot, known: final === "known" };
}

/** As `scoredStanding`; also throws a 404 for a wallet that is not known at that block. */
export async function requireKnown(
  address: Address,
  services: ScoredNeeds,
  now: Date,
): Promise<ScoredSnapshot> {
  const found = await scoredSnapshot(address, services, now);
  if (!found.known) throw notIndexed(address);
  return found;
}

/** As `requireKnown`; also throws a 503 if the queue of reports is full. */
export async function requireReadable(
  address: Address,
  services: ReadableNeeds,
  now: Date,
): Promise<ScoredSnapshot> {
  const found = await requireKnown(address, services, now);
  if (!services.reportTurns.hasRoom()) throw tooManyReports();
  return found;
}

/** Rows of a known wallet. Throws the 404 and 503 of `requireKnown`. */
export async function readReport(
  address: Address,
  { readWallet }: Pick<ReportNeeds, "readWallet">,
): Promise<ReportSource> {
  const source = await readWallet(address);
  if (source === null) throw noBlock();
  if (source === "unknown") throw notIndexed(address);
  return source;
}

/** The 404 of a wallet that the index does not follow. */
export function notIndexed(address: Address): Problem {
  return new Problem(
    "not-indexed",
    `The index does not follow ${toEip55(address)}, or not yet up to the newest finalized and enriched block. It follows registered agents, wallets whose score was requested from the oracle and, where a source of history is set, those whose score a caller paid for by GET /ahs/{address}.`,
  );
}

/** The 404 of a wallet outside the index that has sent no transaction of its own. */
export function neverSeen(address: Address): Problem {
  return new Problem(
    "not-indexed",
    `${toEip55(address)} has sent no transaction of its own on this chain: there is nothing to score, and nothing is charged. The index follows it from the moment that an agent registers it or an account calls requestScore of the oracle for it. Once it has sent a transaction, a paid GET /ahs/{address} follows it as well.`,
  );
}

/** Stored state of a wallet. Throws a 503 problem if the index is empty or too old. */
export async function freshSnapshot(
  address: Address,
  services: WalletNeeds,
  now: Date,
): Promise<WalletSnapshot> {
  const snapshot = await services.scores.snapshot(address);
  requireFresh(snapshot, services, now);
  return snapshot;
}

/** Throws a 503 problem if the index is empty or too old. */
export function requireFresh(
  { head }: Pick<WalletSnapshot, "head">,
  { maxIndexAgeSeconds }: Pick<WalletNeeds, "maxIndexAgeSeconds">,
  now: Date,
): void {
  const options = { retryAfterSeconds: RETRY_AFTER_SECONDS };
  if (head === null) throw unavailable("index-unavailable", "The index holds no block yet.", options);
  const { ok, detail } = freshnessOf(head, { now, maxAgeSeconds: maxIndexAgeSeconds });
  if (!ok) throw unavailable("index-behind", `The newest indexed ${detail}.`, options);
}

export function noBlock(): Problem {
  return unavailable("scoring-unavailable", "No block is both final and enriched yet.", {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
