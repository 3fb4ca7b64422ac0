import { sql } from "drizzle-orm";
import type { Logger } from "pino";
import type { Hex } from "viem";
import type { Database } from "../../db/database.ts";
import { enrichReading } from "../../db/tables/enrich.ts";

/** A range that is being read, or in which a process died. */
type Reading = Pick<typeof enrichReading.$inferSelect, "task" | "fromBlock" | "toBlock" | "deaths">;
type Task = Reading["task"];

/** Each death in a range has the next process read a smaller part of it: of 2,000 blocks 125, then 1. */
const SMALLER_BY = 16;

/**
 * Keeps data that ends the process, as by taking all memory, from ending every process after it. Ranges are noted before they
 * are read. Where a process died, the next one reads smaller ranges and notes each transaction while it decodes it. A
 * transaction that ended two processes is left out from then on.
 */
export function createCrashWatch(deps: {
  readonly db: Database;
  chainId: number;
  /** Those of this process: another one may be at the rest. */
  tasks: readonly Task[];
  logger: Logger;
}) {
  const { db, chainId, tasks, logger } = deps;
  const readings = new Map<Task, Reading>();
  let leftOut: ReadonlySet<Hex> = new Set();
  let taken: Promise<void> | null = null;
  let suspected: Task | null = null;
  let turn: Promise<unknown> = Promise.resolve();

  const takeOver = async () => {
    const left = await takeOverReadings(db, chainId, tasks);
    for (const reading of left.readings) {
      readings.set(reading.task, reading);
      logger.info({ reading }, "an earlier process ended while it may have read this range");
    }
    leftOut = left.fatal;
  };
  const known = async (task: Task, from: number): Promise<Reading | null> => {
    taken ??= takeOver().catch((error: unknown) => {
      taken = null;
      throw error;
    });
    await taken;
    const reading = readings.get(task);
    const isOfRange = reading !== undefined && reading.fromBlock <= from && from <= reading.toBlock;
    return isOfRange && reading.deaths > 0 ? reading : null;
  };
  /** One at a time, since the note names one transaction. */
  const decodeNoted = <Value>(task: Task, transaction: Hex, decode: () => Value): Promise<Value> => {
    const decoded = turn.then(async () => {
      await noteTransaction(db, { chainId, task, transaction });
      try {
        return decode();
      } finally {
        await noteTransaction(db, { chainId, task, transaction: null });
      }
    });
    turn = decoded.catch(() => undefined);
    return decoded;
  };

  return {
    /** Most blocks to read at once from a block on; null where no process died there. */
    mostBlocks: async (task: Task, from: number): Promise<number | null> => {
      const reading = await known(task, from);
      if (reading === null) return null;
      return Math.ceil((reading.toBlock - from + 1) / SMALLER_BY ** reading.deaths);
    },
    /** To be called before a range is read. */
    begin: async (task: Task, range: { readonly from: number; readonly to: number }): Promise<void> => {
      const left = await known(task, range.from);
      const { toBlock, deaths } = left ?? { toBlock: range.to, deaths: 0 };
      const reading = { task, fromBlock: range.from, toBlock, deaths };
      await noteReading(db, chainId, reading);
      readings.set(task, reading);
      suspected = left === null ? null : task;
    },
    isLeftOut: (transaction: Hex): boolean => leftOut.has(transaction),
    /** Answers what the decoding of one transaction does. */
    decode: async <Value>(transaction: Hex, decode: () => Value): Promise<Value> =>
      suspected === null ? decode() : decodeNoted(suspected, transaction, decode),
    /** To be called when the process stops by itself, so that the next one suspects nothing. */
    end: async (): Promise<void> => {
      suspected = null;
      await turn;
      await db.execute(sql`
        delete from ahs.enrich_reading
        where chain_id = ${chainId} and task = any(${sql.param(tasks)}::text[]) and deaths = 0`);
    },
  };
}

/** A transaction is left out after so many: one may be a process that was ended from outside just then. */
const FATAL_DEATHS = 2;

/** Counts what an earlier process left noted of the tasks as one death each. Returns the ranges, and the transactions that are left out. */
export async function takeOverReadings(db: Database, chainId: number, tasks: readonly Task[]) {
  const isTask = sql`chain_id = ${chainId} and task = any(${sql.param(tasks)}::text[])`;
  return db.transaction(async (tx) => {
    await tx.execute(sql`
      insert into ahs.enrich_death as known (chain_id, transaction_hash, deaths)
      select distinct chain_id, transaction_hash, 1 from ahs.enrich_reading
      where ${isTask} and transaction_hash is not null
      on conflict (chain_id, transaction_hash) do update set deaths = known.deaths + 1`);
    const { rows: readings } = await tx.execute<Reading>(sql`
      update ahs.enrich_reading set deaths = deaths + 1, transaction_hash = null where ${isTask}
      returning task, from_block::float8 as "fromBlock", to_block::float8 as "toBlock", deaths`);
    const { rows: fatal } = await tx.execute<{ hash: Hex }>(sql`
      select transaction_hash as hash from ahs.enrich_death
      where chain_id = ${chainId} and deaths >= ${FATAL_DEATHS}`);
    return { readings, fatal: new Set(fatal.map(({ hash }) => hash)) };
  });
}

/** Notes the range that is read next. */
export async function noteReading(db: Database, chainId: number, reading: Reading): Promise<void> {
  const { task, ...place } = { ...reading, transactionHash: null };
  await db
    .insert(enrichReading)
    .values({ chainId, task, ...place })
    .onConflictDoUpdate({ target: [enrichReading.chainId, enrichReading.task], set: place });
}

/** Notes the transaction that is decoded next; null once it is decoded. */
export async function noteTransaction(
  db: Database,
  at: { readonly chainId: number; readonly task: Task; readonly transaction: Hex | null },
): Promise<void> {
  await db.execute(sql`
    update ahs.enrich_reading set transaction_hash = ${at.transaction}
    where chain_id = ${at.chainId} and task = ${at.task}`);
}
