import { createWriteStream } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { Readable, type Transform } from "node:stream";
import { pipeline } from "node:stream/promises";

/** Writes a file that only its owner may read; it has its name once it is whole. Throws where a file has that name. */
export async function writeWholeFile(
  file: string,
  bytes: AsyncIterable<Buffer>,
  packer: Transform,
): Promise<void> {
  const unfinished = `${file}.unfinished`;
  await requireAbsent(file);
  try {
    // One that another run left is of no use; "wx" gives the file its mode, and no link is followed.
    await rm(unfinished, { force: true });
    await pipeline(
      Readable.from(bytes),
      packer,
      createWriteStream(unfinished, { flags: "wx", mode: 0o600, flush: true }),
    );
    await rename(unfinished, file);
    await syncFolder(dirname(file));
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
}

async function requireAbsent(file: string): Promise<void> {
  const there = await open(file, "r").catch(() => null);
  if (there === null) return;
  await there.close();
  throw new Error(`${file} is there already: no file is replaced`);
}

/** A rename is safe from a power cut once its folder is written. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  await handle.sync();
  await handle.close();
}
