import { type Database, underDeadline } from "../../db/database.ts";
import { readSettlementView, type SettlementView } from "./settlement-view.ts";
import type { VerdictResult } from "./types.ts";
import { readStoredVerdict, type StoredVerdict } from "./verdict-views.ts";

/** A verdict as its readers see it. */
export type VerdictView = Omit<StoredVerdict, "result"> & {
  /** Of the newest decision; null before the first. */
  readonly result: VerdictResult | null;
  /** Null where the specification is bound to no job. */
  readonly settlement: SettlementView | null;
};

/** The verdict of an id; null where there is none, or its price is not settled yet. */
export async function readVerdict(db: Database, id: string): Promise<VerdictView | null> {
  const stored = await readStoredVerdict(db, id);
  if (stored === null) return null;
  const isBound = stored.namedJob?.isBound === true;
  const settlement = isBound ? await readSettlementView(underDeadline(db), id) : null;
  // storeDecision alone writes the column, and takes no other type.
  return { ...stored, settlement, result: (stored.result ?? null) as VerdictResult | null };
}
