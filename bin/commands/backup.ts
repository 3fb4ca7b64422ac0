import { createReadStream } from "node:fs";
import { resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { parseArgs } from "node:util";
import { createGunzip, createGzip } from "node:zlib";
import { restoreBackup, writeBackup } from "../../service/db/backup.ts";
import { withDatabase } from "../command.ts";
import type { Invocation } from "../config.ts";
import { writeWholeFile } from "../whole-file.ts";

/** Usage of `ahs backup` and `ahs restore`. */
export const USAGE = `Usage: ahs backup FILE
       ahs restore FILE
A backup holds everything that is not derived from the chain. Restore needs an empty database.`;

/** `ahs backup FILE`: everything of ours in one file that only its owner may read; there is no such file before it is whole. */
export async function backup({ config, args, out }: Invocation): Promise<void> {
  const file = resolve(fileIn("backup", args));
  await withDatabase(config, "backup", async (db, { now }) => {
    await writeWholeFile(file, writeBackup(db, now()), createGzip({ level: 6 }));
    out(`backup of the schema ahs: ${file}`);
  });
}

function fileIn(command: string, args: readonly string[]): string {
  const { positionals } = parseArgs({ args: [...args], options: {}, allowPositionals: true });
  const [file, ...more] = positionals;
  if (file === undefined || more.length > 0) throw new Error(`expected: ahs ${command} FILE`);
  return file;
}

/** `ahs restore FILE`: fills an empty database from a backup, all of it or nothing, and brings it to the newest version. */
export async function restore({ config, args, out }: Invocation): Promise<void> {
  const file = fileIn("restore", args);
  await withDatabase(config, "restore", async (db) => {
    await pipeline(createReadStream(file), createGunzip(), async (bytes: AsyncIterable<Buffer>) => {
      const { takenAt, tables } = await restoreBackup(db, bytes);
      const rows = tables.reduce((sum, table) => sum + table.rows, 0);
      out(`restored ${rows} rows of ${tables.length} tables as of ${takenAt}`);
    });
    out("start the indexer next: what was paid, sent and settled since is found on the chain, where it is");
  });
}
