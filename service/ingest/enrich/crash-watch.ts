import type { Logger } from "pino";
import type { Hex } from "viem";
import type { Database } from "../../db/database.ts";
import {
  endReadings,
  noteReading,
  noteTransaction,
  type Reading,
  takeOverReadings,
} from "./enrich-readings.ts";

type Task = Reading["task"];

/**
 * Keeps data that ends the process, as by taking all memory, from ending every process after it. Ranges are noted before they
 * are read. Where a process died, the next one reads smaller ranges and notes each transaction while it decodes it. A
 * transaction that ended two processes is left out from then on.
 */
export type CrashWatch = {
  /** Most blocks to read at once from a block on; null where no process died there. */
  readonly mostBlocks: (task: Task, from: number) => Promise<number | null>;
  /** To be called before a range is read. */
  readonly begin: (task: Task, range: { readonly from: number; readonly to: number }) => Promise<void>;
  readonly isLeftOut: (transaction: Hex) => boolean;
  /** Answers what the decoding of one transaction does. */
  readonly decode: <Value>(transaction: Hex, decode: () => Value) => Promise<Value>;
  /** To be called when the process stops by itself, so that the next one suspects nothing. */
  readonly end: () => Promise<void>;
};

/** Each death in a range has the next process read a smaller part of it: of 2,000 blocks 125, then 1. */
const SMALLER_BY = 16;

export function createCrashWatch(deps: {
  readonly db: Database;
  readonly chainId: number;
  readonly logger: Logger;
}): CrashWatch {
  const { db, chainId, logger } = deps;
  const readings = new Map<Task, Reading>();
  let leftOut: ReadonlySet<Hex> = new Set();
  let taken: Promise<void> | null = null;
  let suspected: Task | null = null;
  let turn: Promise<unknown> = Promise.resolve();

  const takeOver = async () => {
    const left = await takeOverReadings(db, chainId);
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
    return reading !== undefined && reading.deaths > 0 && reading.from <= from && from <= reading.to
      ? reading
      : null;
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
    mostBlocks: async (task, from) => {
      const reading = await known(task, from);
      if (reading === null) return null;
      return Math.ceil((reading.to - from + 1) / SMALLER_BY ** reading.deaths);
    },
    begin: async (task, { from, to }) => {
      const left = await known(task, from);
      const reading = { task, from, to: left?.to ?? to, deaths: left?.deaths ?? 0 };
      await noteReading(db, chainId, reading);
      readings.set(task, reading);
      suspected = left === null ? null : task;
    },
    isLeftOut: (transaction) => leftOut.has(transaction),
    decode: async (transaction, decode) =>
      suspected === null ? decode() : decodeNoted(suspected, transaction, decode),
    end: async () => {
      suspected = null;
      await turn;
      await endReadings(db, chainId);
    },
  };
}
