import { parseArgs } from "node:util";
import { type QuarantinedItem, readQuarantined, retryItems } from "../../service/db/quarantine.ts";
import { indexedDeployment, withDatabase } from "../command.ts";
import type { Invocation } from "../config.ts";
import { renderTable } from "../render-table.ts";

/** Entries that are listed; the metrics count all. */
const MOST_LISTED = 100;

/** `ahs quarantine list`: what is left out, longest first. `ahs quarantine retry [KIND]`: has it tried by the next run. */
export async function run({ config, args, out }: Invocation): Promise<void> {
  const { positionals } = parseArgs({ args: [...args], allowPositionals: true, options: {} });
  const [action = "list", kind = null] = positionals;
  if (action !== "list" && action !== "retry")
    throw new Error(`expected "quarantine list" or "quarantine retry [KIND]", got "${action}"`);
  const { chainId } = indexedDeployment(config);
  await withDatabase(config, "quarantine", async (db, { now }) => {
    if (action === "retry") {
      out(`${await retryItems(db, { chainId, kind, now: now() })} items are tried by the next run`);
      return;
    }
    const items = await readQuarantined(db, chainId, MOST_LISTED);
    for (const line of renderTable(items.map(row))) out(line);
    if (items.length === 0) out("nothing is quarantined");
  });
}

function row({ kind, subject, failures, firstFailedAt, nextTryAt, error }: QuarantinedItem): string[] {
  const since = firstFailedAt.toISOString();
  return [kind, subject, `${failures} failures since ${since}`, `next ${nextTryAt.toISOString()}`, error];
}
