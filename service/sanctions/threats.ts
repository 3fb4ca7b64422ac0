import { eq, sql } from "drizzle-orm";
import type { Address } from "viem";
import type { Database } from "../db/database.ts";
import { lockName } from "../db/session.sql.ts";
import { threatEntry, threatList } from "../db/tables/sanctions.ts";
import { RefusedList } from "./list-file.ts";

/** Lists that can be in force at once: an address is on no more. */
const MAX_LISTS = 100;

/** Replaces a list by an import in one transaction. Throws a RefusedList, and the last one stays, where it looks damaged. */
export async function importThreats(
  db: Database,
  list: Pick<typeof threatList.$inferInsert, "name" | "kind" | "source" | "licence" | "listDate"> & {
    readonly addresses: readonly Address[];
    readonly importedAt: Date;
    /** Takes a list that shrank by more than half. */
    readonly force: boolean;
  },
): Promise<{ readonly added: number; readonly removed: number; readonly unchanged: number }> {
  const { addresses, force, ...row } = list;
  const { name, importedAt } = row;
  return db.transaction(async (tx) => {
    // Imports take their turns: the number of lists is counted.
    await lockName(tx, "ahs-threats");
    const known = await tx.select({ name: threatList.name, entries: threatList.entries }).from(threatList);
    const before = known.find((one) => one.name === name)?.entries ?? 0;
    if (!force && addresses.length * 2 < before)
      throw new RefusedList(
        `it has ${addresses.length} addresses where the kept one has ${before}; --force takes it all the same`,
      );
    if (known.length >= MAX_LISTS && !known.some((one) => one.name === name))
      throw new RefusedList(`there are ${known.length} lists already, which is the most; remove one first`);
    const written = { ...row, entries: addresses.length };
    await tx.insert(threatList).values(written).onConflictDoUpdate({ target: threatList.name, set: written });
    const removed = await tx.execute(sql`
      delete from ${threatEntry} where list = ${name} and not exists (
        select from unnest(${sql.param(addresses)}::text[]) as next (address) where next.address = ${threatEntry.address})`);
    const added = await tx.execute(sql`
      insert into ${threatEntry} (list, address, listed_at)
      select ${name}, address, ${importedAt.toISOString()}::timestamptz from unnest(${sql.param(addresses)}::text[]) as next (address)
      on conflict do nothing`);
    const counted = { added: added.rowCount ?? Number.NaN, removed: removed.rowCount ?? Number.NaN };
    return { ...counted, unchanged: addresses.length - counted.added };
  });
}

/** Every list that is in force, by name. */
export function readThreatLists(db: Database): Promise<readonly (typeof threatList.$inferSelect)[]> {
  return db.select().from(threatList).orderBy(threatList.name);
}

/** Removes a list with its entries; false if no list has that name. */
export async function removeThreatList(db: Database, name: string): Promise<boolean> {
  const { rowCount } = await db.delete(threatList).where(eq(threatList.name, name));
  return (rowCount ?? 0) > 0;
}
