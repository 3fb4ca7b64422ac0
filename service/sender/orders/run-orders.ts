import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Logger } from "pino";
import { holdChain } from "../../db/chain-fence.ts";
import { tryTransactionLock } from "../../db/leader-lock.ts";
import { runLoop } from "../../db/run-loop.ts";
import { stepOf } from "./fate.ts";
import type { Evidence, OrderKind, Step } from "./order-kind.ts";

export type Settled<Row> = { readonly row: Row; readonly step: Exclude<Step, { readonly kind: "wait" }> };

type Run<Row, Seen> = {
  readonly now: Date;
  /** Block up to which the index has followed the chain; kinds that wait for no event need none. */
  readonly indexedBlock?: number;
  /** Stores the step; false if it leaves the order unchanged. Without it the caller stores all steps. */
  readonly settle?: (of: Settled<Row> & { readonly seen: Seen }) => Promise<unknown>;
};

/** Settles one order, and returns its step; null if it did not change. */
export async function runOrder<Row, Seen extends Evidence>(
  kind: OrderKind<Row, Seen>,
  row: Row,
  { now, indexedBlock = 0, settle }: Run<Row, Seen>,
): Promise<Settled<Row> | null> {
  const seen = await kind.look(row);
  const step = stepOf(kind, { row, seen }, { now, indexedBlock });
  if (step.kind === "wait" || (await settle?.({ row, step, seen })) === false) return null;
  return { row, step };
}

/** Settles orders one after the other, and returns those that changed. */
export function runOrders<Row, Seen extends Evidence>(
  kind: OrderKind<Row, Seen>,
  { rows, ...run }: Run<Row, Seen> & { readonly rows: readonly Row[] },
): Promise<Settled<Row>[]> {
  return eachOrder(rows, (row) => runOrder(kind, row, run));
}

/** Results of one action per order, without nulls. With `onFault` an order that fails is reported and stops no other. */
export async function eachOrder<Row, Result>(
  rows: readonly Row[],
  act: (row: Row) => Promise<Result | null>,
  onFault?: (row: Row, error: unknown) => void,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const row of rows) {
    try {
      const result = await act(row);
      if (result !== null) results.push(result);
    } catch (error) {
      if (onFault === undefined) throw error;
      onFault(row, error);
    }
  }
  return results;
}

/** Result of a round; "busy" while another process is in its round, "no_index" while there is nothing to compare with. */
export type OrderRound<Done> = { readonly kind: "busy" | "no_index" } | ({ readonly kind: "done" } & Done);

/** One round of a kind: a single database transaction, so that any number of processes may run it and any may die. */
export function orderRound<Done>(
  { db, chainId, now }: { readonly db: NodePgDatabase; readonly chainId: number; readonly now: () => Date },
  {
    lock,
    readIndexedBlock,
    round,
  }: {
    /** Name of the lock: one process at a time is in its round. */
    readonly lock: string;
    readonly readIndexedBlock: (tx: NodePgDatabase, chainId: number) => Promise<number | null>;
    readonly round: (
      tx: NodePgDatabase,
      at: { readonly now: Date; readonly indexedBlock: number },
    ) => Promise<Done>;
  },
): Promise<OrderRound<Done>> {
  return db.transaction(async (tx): Promise<OrderRound<Done>> => {
    if (!(await tryTransactionLock(tx, `ahs-${lock}:${chainId}`))) return { kind: "busy" };
    await holdChain(tx, chainId);
    const at = now();
    // Read before the events: they are then at least as new as this block.
    const indexedBlock = await readIndexedBlock(tx, chainId);
    if (indexedBlock === null) return { kind: "no_index" };
    return { kind: "done", ...(await round(tx, { now: at, indexedBlock })) };
  });
}

const LONGEST_PAUSE_MS = 30_000;

/** Runs rounds until the signal fires. Never throws; a failed round is logged and retried. */
export function repeatOrders(
  { what, pass, pauseMs }: { what: string; pass: () => Promise<void>; pauseMs?: () => number },
  { logger, pollMs }: { readonly logger: Logger; readonly pollMs: number },
  signal: AbortSignal,
): Promise<void> {
  return runLoop({
    logger,
    what,
    signal,
    pass,
    pauseMs: pauseMs ?? pollMs,
    retryMs: { first: 2 * pollMs, longest: LONGEST_PAUSE_MS },
  });
}
