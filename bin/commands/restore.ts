import { createReadStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { parseArgs } from "node:util";
import { createGunzip } from "node:zlib";
import { type RestoredBackup, restoreBackup } from "../../service/db/backup.ts";
import type { Invocation } from "../command.ts";
import { createLogger, openProcessDatabase } from "../process.ts";

/** `ahs restore FILE`: fills an empty database from a backup, all of it or nothing, and brings it to the newest version. */
export async function restore({ config, args, out }: Invocation): Promise<void> {
  const { positionals } = parseArgs({ args: [...args], options: {}, allowPositionals: true });
  const [file, ...more] = positionals;
  if (file === undefined || more.length > 0) throw new Error("expected: ahs restore FILE");
  const db = openProcessDatabase(config, "ahs-restore", createLogger(config, "restore"));
  try {
    const restored: RestoredBackup[] = [];
    await pipeline(createReadStream(file), createGunzip(), async (bytes: AsyncIterable<Buffer>) => {
      restored.push(await restoreBackup(db, bytes));
    });
    for (const { takenAt, tables } of restored) {
      const rows = tables.reduce((sum, table) => sum + table.rows, 0);
      out(`restored ${rows} rows of ${tables.length} tables as of ${takenAt}`);
    }
    out("start the indexer next: what was paid, sent and settled since is found on the chain, where it is");
  } finally {
    await db.$client.end();
  }
}
