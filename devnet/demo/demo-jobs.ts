import { randomBytes, randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { endOnFault, writeFault } from "../../bin/end-on-fault.ts";
import { createLogger, openProcessDatabase } from "../../bin/process.ts";
import { knownSecrets } from "../../bin/secrets/known-secrets.ts";
import { createScrub } from "../../bin/secrets/scrub.ts";
import { createApiKey } from "../../service/access/api-keys.ts";
import { localFiles, type UpFile } from "./local-files.ts";
import { playDemoJobs } from "./play-demo-jobs.ts";

/**
 * A process that plays jobs on the running local service: --data-dir DIR --seed SEED. It sends its parent `{lines}` of what it played,
 * and ends with its parent.
 */
const { values } = parseArgs({ options: { "data-dir": { type: "string" }, seed: { type: "string" } } });
const { "data-dir": dataDir, seed } = values;
if (dataDir === undefined || seed === undefined) throw new Error("expected --data-dir DIR --seed SEED");

const files = localFiles(dataDir);
// `ahs up` alone writes the file, and with this type.
const up = JSON.parse(readFileSync(files.upFile, "utf8")) as UpFile;
const { database_url: databaseUrl, scripted_model_url: scriptedUrl, verify_base_url } = up;
const scrub = createScrub([...knownSecrets({ DATABASE_URL: databaseUrl }), up.api_key]);
endOnFault((error) => writeFault(error, scrub));
process.on("disconnect", () => process.exit());
// Who listens to the parent would live as long as it does.
process.channel?.unref();

if (scriptedUrl !== null && verify_base_url !== null) {
  const lines = await playDemoJobs({
    up: { ...up, verify_base_url },
    scriptedUrl,
    files,
    seed,
    reviewKey: createReviewKey,
    warn: (line) => void process.stderr.write(`${scrub(line)}\n`),
  });
  process.send?.({ lines });
}

/** The secret of a new key that may review and buys nothing. */
async function createReviewKey(): Promise<string> {
  const db = openProcessDatabase({ databaseUrl }, "ahs-demo", createLogger({ logLevel: "silent" }, "demo"));
  try {
    const wanted = { name: "Demo reviewer", partner: false, balanceUnits: 0, expiresAt: null };
    const entropy = { randomBytes, randomUuid: randomUUID };
    return (await createApiKey(db, { ...wanted, scopes: ["review"] }, entropy)).secret;
  } finally {
    await db.$client.end();
  }
}
