import { and, eq, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Address, Hex } from "viem";
import { isOneOf } from "../db/columns.ts";
import { builderOn, type Database } from "../db/database.ts";
import type { ArrayReader } from "../db/index-snapshot.ts";
import { lockName } from "../db/session.sql.ts";
import { sanctionsEntry, sanctionsSource } from "../db/tables/sanctions.ts";
import type { SanctionsFlag } from "../model/features/types.ts";
import { type ListedAddress, RefusedList, sanctionsListHash } from "./list-file.ts";
import { parseSdn, type SdnList } from "./parse-sdn.ts";
import { type ImportRules, planImport, type StoredList } from "./plan-import.ts";

export type ImportOutcome =
  | {
      readonly kind: "imported";
      readonly list: SdnList;
      readonly listHash: Hex;
      readonly added: number;
      readonly changed: number;
      readonly removed: number;
      readonly unchanged: number;
    }
  /** The last list stays in force, and its age goes on. */
  | { readonly kind: "refused"; readonly reason: string };

/** Imports an edition of OFAC's SDN list in one transaction. Errors of the source are thrown; the last list stays in force. */
export async function importSdn(
  { db, now }: { readonly db: Database; readonly now: () => Date },
  bytes: AsyncIterable<Uint8Array>,
  rules: ImportRules,
): Promise<ImportOutcome> {
  const list = await parsed(bytes);
  if (list instanceof RefusedList) return { kind: "refused", reason: list.message };
  const { edition, entries } = list;
  const listHash = sanctionsListHash(entries);
  return db.transaction(async (tx): Promise<ImportOutcome> => {
    const plan = planImport(await takeSanctionsList(tx, "ofac-sdn"), list, rules);
    if (plan.kind === "refused") return plan;
    const { added, changed, removed, unchanged } = plan;
    const state = { edition, listHash, entries: entries.length, checkedAt: now() };
    await writeSanctionsList(tx, "ofac-sdn", {
      state,
      put: [...added, ...changed],
      removed: removed.map(({ address }) => address),
    });
    return {
      kind: "imported",
      list,
      listHash,
      added: added.length,
      changed: changed.length,
      removed: removed.length,
      unchanged,
    };
  });
}

async function parsed(bytes: AsyncIterable<Uint8Array>): Promise<SdnList | RefusedList> {
  try {
    return await parseSdn(bytes);
  } catch (error) {
    if (error instanceof RefusedList) return error;
    throw error;
  }
}

type Source = SanctionsFlag["source"];

/** Reads an imported list, and blocks other imports of it until the transaction ends. */
async function takeSanctionsList(tx: NodePgDatabase, source: Source): Promise<StoredList> {
  await lockName(tx, `ahs-sanctions:${source}`);
  const [known] = await tx.select().from(sanctionsSource).where(eq(sanctionsSource.source, source));
  const entries = await tx
    .select({ address: sanctionsEntry.address, reference: sanctionsEntry.reference })
    .from(sanctionsEntry)
    .where(eq(sanctionsEntry.source, source))
    .orderBy(sql`${sanctionsEntry.address} collate "C"`);
  return { edition: known?.edition ?? null, entries };
}

/** Reads the row of a list's last import; null without one. */
export async function readImport(client: ArrayReader, source: Source) {
  const { listHash, entries, edition, checkedAt } = sanctionsSource;
  const [row] = await builderOn(client)
    .select({ listHash, entries, edition, checkedAt })
    .from(sanctionsSource)
    .where(eq(sanctionsSource.source, source));
  return row ?? null;
}

/** Rows in one statement: each takes four parameters of at most 65,535. */
const CHUNK = 10_000;

/** Writes an import in the caller's transaction. `put` is new or renamed; a renamed entry keeps the moment of its detection. */
async function writeSanctionsList(
  tx: NodePgDatabase,
  source: Source,
  {
    state,
    put,
    removed,
  }: {
    readonly state: NonNullable<Awaited<ReturnType<typeof readImport>>>;
    readonly put: readonly ListedAddress[];
    readonly removed: readonly Address[];
  },
): Promise<void> {
  const detectedAt = state.checkedAt;
  for (let start = 0; start < put.length; start += CHUNK) {
    await tx
      .insert(sanctionsEntry)
      .values(put.slice(start, start + CHUNK).map((entry) => ({ ...entry, source, detectedAt })))
      .onConflictDoUpdate({
        target: [sanctionsEntry.source, sanctionsEntry.address],
        set: { reference: sql`excluded.reference` },
      });
  }
  if (removed.length > 0)
    await tx
      .delete(sanctionsEntry)
      .where(and(eq(sanctionsEntry.source, source), isOneOf(sanctionsEntry.address, removed)));
  await tx
    .insert(sanctionsSource)
    .values({ source, ...state, changedAt: state.checkedAt })
    .onConflictDoUpdate({
      target: sanctionsSource.source,
      set: {
        ...state,
        changedAt: sql`case when ${sanctionsSource.listHash} = excluded.list_hash
          then ${sanctionsSource.changedAt} else excluded.changed_at end`,
      },
    });
}
