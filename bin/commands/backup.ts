import { createReadStream, createWriteStream } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { parseArgs } from "node:util";
import { createGunzip, createGzip } from "node:zlib";
import { restoreBackup, writeBackup } from "../../service/db/backup.ts";
import { withDatabase } from "../command.ts";
import type { Invocation } from "../config.ts";

/** `ahs backup FILE`: everything of ours in one file that only its owner may read; there is no such file before it is whole. */
export async function backup({ config, args, out }: Invocation): Promise<void> {
  const file = resolve(fileIn("backup", args));
  const unfinished = `${file}.unfinished`;
  await withDatabase(config, "backup", async (db) => {
    await requireAbsent(file);
    // One that another run left is of no use; "wx" gives the file its mode, and no link is followed.
    await rm(unfinished, { force: true });
    await pipeline(
      Readable.from(writeBackup(db, new Date())),
      createGzip({ level: 6 }),
      createWriteStream(unfinished, { flags: "wx", mode: 0o600, flush: true }),
    );
    await rename(unfinished, file);
    await syncFolder(dirname(file));
    out(`backup of the schema ahs: ${file}`);
  }).catch(async (error: unknown) => {
    await rm(unfinished, { force: true });
    throw error;
  });
}

function fileIn(command: string, args: readonly string[]): string {
  const { positionals } = parseArgs({ args: [...args], options: {}, allowPositionals: true });
  const [file, ...more] = positionals;
  if (file === undefined || more.length > 0) throw new Error(`expected: ahs ${command} FILE`);
  return file;
}

async function requireAbsent(file: string): Promise<void> {
  const there = await open(file, "r").catch(() => null);
  if (there === null) return;
  await there.close();
  throw new Error(`${file} is there already: a backup replaces no other`);
}

/** A rename is safe from a power cut once its folder is written. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  await handle.sync();
  await handle.close();
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
