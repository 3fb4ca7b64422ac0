import { existsSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { dirname } from "node:path";
import type { DatabaseUse } from "../../service/db/operation-facts.ts";
import { judgeDisk } from "./judge-service.ts";
import type { Verdict } from "./run-checks.ts";

/** Measures the disk that a folder is on, or would be on. */
export async function checkDisk(wanted: string): Promise<Verdict> {
  let folder = wanted;
  while (!existsSync(folder)) folder = dirname(folder);
  const { bavail, blocks, bsize } = await statfs(folder);
  return judgeDisk(folder, { freeBytes: bavail * bsize, totalBytes: blocks * bsize });
}

const LOCAL_HOSTS: ReadonlySet<string> = new Set(["", "localhost", "127.0.0.1", "[::1]"]);

/** Measures the disk of the database, which is known for one on this machine whose user may see its folder. */
export async function checkDatabaseDisk(
  databaseUrl: string,
  { folder }: Pick<DatabaseUse, "folder">,
): Promise<Verdict> {
  const isHere = LOCAL_HOSTS.has(new URL(databaseUrl).hostname);
  if (isHere && folder !== null && existsSync(folder)) return checkDisk(folder);
  const detail = "not known: the folder of the database cannot be seen from here";
  return { level: "skip", detail, advice: "watch its volume: AhsDatabaseDiskLow in docs/operate.md" };
}
