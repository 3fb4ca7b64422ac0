import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

/** Writes a migration for what changed in service/db/tables; with --check, only says whether one is missing. */
const ROOT = new URL("..", import.meta.url).pathname;
const MIGRATIONS = "service/db/migrations";

const isCheck = process.argv.includes("--check");
const before = readdirSync(join(ROOT, MIGRATIONS)).length;

if (isCheck) {
  // drizzle-kit has no dry run: it writes beside a copy.
  const copy = mkdtempSync(join(ROOT, "cache-migrations-"));
  try {
    cpSync(join(ROOT, MIGRATIONS), copy, { recursive: true });
    generateInto(copy);
    if (readdirSync(copy).length !== before) {
      process.stderr.write("a migration is missing: run npm run generate\n");
      process.exitCode = 1;
    }
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
} else {
  generateInto(join(ROOT, MIGRATIONS));
  // Only the newest snapshot is compared with the tables.
  const meta = join(ROOT, MIGRATIONS, "meta");
  const snapshots = readdirSync(meta).filter((name) => name.endsWith("_snapshot.json"));
  for (const older of snapshots.sort().slice(0, -1)) rmSync(join(meta, older));
}

function generateInto(folder: string): void {
  const options = ["--dialect", "postgresql", "--schema", "service/db/tables/*.ts", "--casing", "snake_case"];
  execFileSync("drizzle-kit", ["generate", ...options, "--out", folder.replace(ROOT, "./")], {
    cwd: ROOT,
    stdio: ["ignore", "ignore", "inherit"],
  });
}
