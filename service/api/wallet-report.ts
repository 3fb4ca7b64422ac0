import { z } from "@hono/zod-openapi";
import type { Address } from "viem";
import { Problem, unavailable } from "../access/problems.ts";
import type { AsOf, WalletRows } from "../model/features/types.ts";
import { toEip55 } from "./address-schema.ts";
import { type ReportTurns, tooManyReports } from "./report-turns.ts";
import { coverageSchema, isoSchema } from "./scores/ahs-record-schema.ts";
import { renderCoverage } from "./scores/render-ahs-record.ts";
import { freshStanding, type WalletPorts } from "./wallet-ports.ts";

/** What a report about a followed wallet is computed from. */
export type ReportSource = { readonly rows: WalletRows; readonly asOf: AsOf };

export type ReportPorts = WalletPorts & {
  /** The rows of a wallet at the newest finalized and enriched block; null while there is none. Strangers have no calls. */
  readonly readWallet: (address: Address) => Promise<ReportSource | null>;
} & ReportRoom;

/** How much a process reads for reports at once. */
export type ReportRoom = { readonly reportTurns: Pick<ReportTurns, "hasRoom"> };

/** Members that say what a report speaks of; every report has them. */
export const reportScopeShape = {
  chain_id: z.int(),
  as_of_block: z.int(),
  as_of_time: isoSchema,
  window: z
    .object({ from: isoSchema, to: isoSchema, days: z.int().positive() })
    .openapi("ReportWindow", { description: "Own calls before it are not looked at" }),
  coverage: coverageSchema,
  accounts_left_out: z.int().positive().optional().openapi({
    description:
      "Of a wallet whose calls show more than 20,000 accounts in their logs: how many of these were not looked at. What is said of owners, users and flags leaves them out. Absent where none was",
  }),
} as const;

const scopeSchema = z.object(reportScopeShape);
type ReportScope = z.infer<typeof scopeSchema>;

type ScopeRows = Pick<WalletRows, "chainId" | "coverage" | "accountsLeftOut">;

const SECONDS_PER_DAY = 86_400;
const RETRY_AFTER_SECONDS = 10;

/** The scope of a report over the last `days` before its block. */
export function reportScope(
  { rows, asOf }: { readonly rows: ScopeRows; readonly asOf: AsOf },
  days: number,
): ReportScope {
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

/** Refuses, at no cost, a wallet that the index does not follow (404) and an index that is empty or too old (503). */
export async function requireFollowed(address: Address, ports: WalletPorts, now: Date): Promise<void> {
  const { followed } = await freshStanding(address, ports, now);
  if (!followed) throw notIndexed(address);
}

/** The same for a report, of which so many are read by now that one more would only wait: then a 503 as well. */
export async function requireReadable(
  address: Address,
  ports: WalletPorts & ReportRoom,
  now: Date,
): Promise<void> {
  await requireFollowed(address, ports, now);
  if (!ports.reportTurns.hasRoom()) throw tooManyReports();
}

/** Rows of a followed wallet; throws a 503 problem while no block is both final and enriched. */
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

/** Unix seconds as answers show them. */
export function isoOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}
