import { randomBytes, randomUUID } from "node:crypto";
import type { Invocation } from "../ahs.ts";
import { createLogger, openProcessDatabase } from "../process.ts";
import { runKeys } from "./keys.ts";

/** `ahs keys create|list|revoke` on the configured database. */
export async function manageKeys({ config, args, out }: Invocation): Promise<void> {
  const db = openProcessDatabase(config, "ahs-keys", createLogger(config, "keys"));
  try {
    await runKeys(args, {
      db,
      out,
      clock: { now: () => new Date() },
      entropy: { randomBytes, randomUuid: randomUUID },
    });
  } finally {
    await db.$client.end();
  }
}
