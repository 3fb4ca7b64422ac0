import { randomBytes, randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { apiKeyFinder, createApiKey, hashApiKey } from "../../service/access/api-keys.ts";
import type { Database } from "../../service/db/database.ts";
import { type LocalFiles, writeSecret } from "./local-files.ts";

/** The unlimited key of this data directory; a new one where there is none or the database does not know it. */
export async function keepDemoKey(db: Database, files: LocalFiles): Promise<string> {
  if (existsSync(files.demoKeyFile)) {
    const kept = readFileSync(files.demoKeyFile, "utf8");
    const known = await apiKeyFinder(db)(hashApiKey(kept));
    if (known !== null && known.revokedAt === null) return kept;
  }
  const wanted = { name: "demo", partner: false, balanceUnits: null, expiresAt: null };
  const { secret } = await createApiKey(db, wanted, { randomBytes, randomUuid: randomUUID });
  writeSecret(files.demoKeyFile, secret);
  return secret;
}
