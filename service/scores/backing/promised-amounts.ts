import { lte, sql } from "drizzle-orm";
import type { PoolClient, QueryConfig } from "pg";
import type { Address } from "viem";
import {
  type Database,
  NUMERIC_AS_BIGINT,
  QUERY_DEADLINE,
  rowsInTime,
  underDeadline,
} from "../../db/database.ts";
import { loadInBatches } from "../../db/load-in-batches.ts";
import { routingPromise } from "../../db/tables/backing.ts";
import { safeAmountOf } from "../../model/backing/cost-basis.ts";
import type { AmountOutcome, AmountRequest, AvailableBacking, PromisedAmounts } from "./available-backing.ts";
import {
  availableBacking,
  type BackingRow,
  insertPromised,
  lockWallets,
  MAX_PROMISES,
} from "./promised-amounts.sql.ts";

/** How long a promised amount is outstanding. */
const DAY_MS = 24 * 3_600_000;

/** Routing reads backing at every call: many waiting requests share a statement. */
const BATCH = { maxSize: 500, maxRunning: 2 };

/**
 * The ledger of one chain's amounts that routing said may settle at once. Two requests for one wallet never decide by the same
 * available amount, in any number of processes.
 */
export function createPromisedAmounts({
  db,
  chainId,
  now,
}: {
  readonly db: Database;
  readonly chainId: number;
  readonly now: () => Date;
}): PromisedAmounts {
  const ledger = { db, chainId, now };
  return {
    read: loadInBatches(async (wallets: readonly Address[]) => {
      const rows = await rowsInTime<BackingRow>(db, backingQuery(ledger, wallets));
      const found = new Map(rows.map((row) => [row.wallet, availableOf(row)]));
      return wallets.map((wallet) => found.get(wallet) ?? null);
    }, BATCH),
    promise: loadInBatches((requests: readonly AmountRequest[]) => promiseMany(ledger, requests), BATCH),
    async release(promiseId: string): Promise<void> {
      await underDeadline(db).delete(routingPromise).where(sql`${routingPromise.id} = ${promiseId}`);
    },
  };
}

/** Deletes promises that are no longer outstanding. Returns their number. */
export async function dropOldPromises(db: Database, now: Date): Promise<number> {
  const { rowCount } = await db.delete(routingPromise).where(lte(routingPromise.createdAt, dayBefore(now)));
  return rowCount ?? Number.NaN;
}

function dayBefore(now: Date): Date {
  return new Date(now.getTime() - DAY_MS);
}

type Ledger = Parameters<typeof createPromisedAmounts>[0];

function backingQuery({ chainId, now }: Ledger, wallets: readonly Address[]): QueryConfig {
  const values = { wallets: [...new Set(wallets)], since: dayBefore(now()) };
  return { ...NUMERIC_AS_BIGINT, ...availableBacking(chainId, values) };
}

function availableOf(row: BackingRow): AvailableBacking {
  const { costBasisMicroUsd, receivedDayMicroUsd, promisedMicroUsd, promises } = row;
  const safeMicroUsd = safeAmountOf(row);
  const outstandingMicroUsd = greaterOf(promisedMicroUsd, receivedDayMicroUsd);
  const isSpent = promises >= MAX_PROMISES || outstandingMicroUsd >= safeMicroUsd;
  return {
    costBasisMicroUsd,
    bondMicroUsd: row.bondMicroUsd,
    safeMicroUsd,
    outstandingMicroUsd,
    availableMicroUsd: isSpent ? 0n : safeMicroUsd - outstandingMicroUsd,
    asOfBlock: row.asOfBlock,
    asOfTime: row.asOfTime,
    sellerProfile: row.sellerProfile,
  };
}

function greaterOf(one: bigint, other: bigint): bigint {
  if (one > other) return one;
  return other;
}

/** One transaction: locks the wallets, reads what is available, decides request by request, and stores the promises. */
async function promiseMany(
  ledger: Ledger,
  requests: readonly AmountRequest[],
): Promise<readonly AmountOutcome[]> {
  const { db, chainId, now } = ledger;
  const wallets = requests.map(({ wallet }) => wallet);
  const client = await db.$client.connect();
  let failure: Error | undefined;
  try {
    await client.query({ ...QUERY_DEADLINE, text: "begin" });
    // A statement of its own: the next one then sees what earlier holders of the locks stored.
    await client.query({ ...QUERY_DEADLINE, ...lockWallets({ chainId, wallets }) });
    const { rows } = await client.query<BackingRow>({ ...QUERY_DEADLINE, ...backingQuery(ledger, wallets) });
    const decided = decideInTurn(new Map(rows.map((row) => [row.wallet, row])), requests);
    const ids = await insertPromises(client, { chainId, at: now() }, decided);
    await client.query({ ...QUERY_DEADLINE, text: "commit" });
    return decided.map(({ backing, request, settles }) => ({
      backing,
      promiseId: settles ? (ids.get(request) ?? null) : null,
    }));
  } catch (error) {
    failure = error instanceof Error ? error : new Error("no amount was promised", { cause: error });
    throw failure;
  } finally {
    // Closing the connection rolls back a failed transaction.
    client.release(failure);
  }
}

type DecidedAmount = Pick<AmountOutcome, "backing"> & {
  readonly request: AmountRequest;
  readonly settles: boolean;
};

/** Each request decides by what those before it left. */
function decideInTurn(
  rows: Map<Address, BackingRow>,
  requests: readonly AmountRequest[],
): readonly DecidedAmount[] {
  return requests.map((request) => {
    const row = rows.get(request.wallet);
    if (row === undefined) return { request, backing: null, settles: false };
    const backing = availableOf(row);
    const settles = request.settles(backing.availableMicroUsd);
    if (settles) {
      const promisedMicroUsd = row.promisedMicroUsd + request.amountMicroUsd;
      rows.set(request.wallet, { ...row, promisedMicroUsd, promises: row.promises + 1 });
    }
    return { request, backing, settles };
  });
}

/** Returns the ids of the new rows by their requests. */
async function insertPromises(
  client: PoolClient,
  { chainId, at }: { readonly chainId: number; readonly at: Date },
  decided: readonly DecidedAmount[],
): Promise<ReadonlyMap<AmountRequest, string>> {
  const promised = decided.flatMap(({ request, settles }) => (settles ? [request] : []));
  if (promised.length === 0) return new Map();
  const { rows } = await client.query<{ readonly id: string }>({
    ...QUERY_DEADLINE,
    ...insertPromised({
      chainId,
      at,
      wallets: promised.map(({ wallet }) => wallet),
      callers: promised.map(({ caller }) => caller),
      amounts: promised.map(({ amountMicroUsd }) => String(amountMicroUsd)),
    }),
  });
  return new Map(
    promised.flatMap((request, index) => {
      const id = rows[index]?.id;
      return id === undefined ? [] : [[request, id] as const];
    }),
  );
}
