import type { Hex } from "viem";
import type { Database } from "../db/database.ts";
import { sanctionsListHash } from "./list-hash.ts";
import { parseSdn, type SdnList } from "./parse-sdn.ts";
import { type ImportRules, planImport } from "./plan-import.ts";
import { RefusedList } from "./refused-list.ts";
import { takeSanctionsList, writeSanctionsList } from "./sanctions-lists.ts";

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

/**
 * Reads an edition of OFAC's SDN list and puts it in the place of the last one, in one transaction; scoring sees the change
 * with its next pass. Throws what the bytes throw; then, too, the last list stays.
 */
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
    await writeSanctionsList(tx, {
      source: "ofac-sdn",
      edition,
      listHash,
      entries: entries.length,
      put: [...added, ...changed],
      removed: removed.map(({ address }) => address),
      at: now(),
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
