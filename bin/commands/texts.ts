import type { Database } from "../../service/db/database.ts";
import { countTextsByKey, resealBatch } from "../../service/verification/verdicts/sealed-texts.ts";
import { actionsOf, withDatabase } from "../command.ts";
import type { Invocation } from "../config.ts";
import { renderTable } from "../render-table.ts";

export const USAGE = `Usage: ahs texts status
       ahs texts encrypt
status counts the stored texts of specifications, outputs, evidence and model answers by the id of their key.
encrypt encrypts plain texts, and those of a key in TEXT_ENCRYPTION_OLD_KEYS, with TEXT_ENCRYPTION_KEY. It may be ended and run
again at any time, while the service runs.`;

/** Texts per database transaction, each of 200,000 characters at most. */
const BATCH = 50;

type TextsDeps = { readonly db: Database; readonly out: Invocation["out"] };

/** Counts stored texts by key, or encrypts those that the current key did not encrypt. */
export async function run({ config, args, out }: Invocation): Promise<void> {
  await withDatabase(config, "texts", (db) => act(args, { db, out }));
}

const act = actionsOf<TextsDeps>(USAGE, { status, encrypt });

async function status(_: readonly string[], { db, out }: TextsDeps): Promise<void> {
  const counts = await countTextsByKey(db);
  const rows = [...counts].map(([key, texts]) => [
    key,
    String(texts),
    key === db.texts.keyId ? "the current key" : "",
  ]);
  if (rows.length === 0) out("no texts are stored");
  else for (const line of renderTable([["key", "texts", ""], ...rows])) out(line);
}

async function encrypt(_: readonly string[], { db, out }: TextsDeps): Promise<void> {
  let total = 0;
  for (;;) {
    const batch = await resealBatch(db, BATCH);
    if (batch === 0) break;
    total += batch;
  }
  const counts = await countTextsByKey(db);
  const left = [...counts].reduce((sum, [key, texts]) => sum + (key === db.texts.keyId ? 0 : texts), 0);
  out(`${total} texts encrypted with key ${db.texts.keyId}, ${left} left`);
  if (left > 0) out("the others are in use by other processes: run it again");
}
