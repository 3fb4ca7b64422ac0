import { join } from "node:path";
import { freePort } from "../../../bin/supervisor/child-process.ts";
import { urlForRole } from "../test-database.ts";
import { runScript, type Script, until } from "./script.ts";

const HEAD_TIMEOUT_MS = 170_000;
/** Characters of the log that a failure shows. */
const LOG_SHOWN = 6_000;

export type IndexerOptions = {
  readonly folder: string;
  readonly databaseUrl: string;
  readonly rpcUrl: string;
  readonly deploymentFile: string;
};

export type TestIndexer = Script & {
  /** Resolves once the index holds that block; fails at once when the indexer has ended. */
  readonly reach: (blockNumber: number) => Promise<void>;
};

/** Starts `ahs index` with the rights of its role on a chain and a migrated database. */
export async function startIndexer(options: IndexerOptions): Promise<TestIndexer> {
  const port = await freePort();
  const env = {
    DATABASE_URL: urlForRole(options.databaseUrl, "ahs_index"),
    RPC_URL: options.rpcUrl,
    AHS_DEPLOYMENT: options.deploymentFile,
    INDEX_PORT: String(port),
    POLLING_INTERVAL_MS: "100",
    LOG_LEVEL: "info",
  };
  const script = runScript(["index"], env, join(options.folder, "index.log"));
  let ended: number | null | undefined;
  void script.exited.then((code) => {
    ended = code;
  });
  const reach = async (blockNumber: number): Promise<void> => {
    const wait = { what: `the index reaches block ${blockNumber}`, timeoutMs: HEAD_TIMEOUT_MS };
    await until(wait, async () => {
      if (ended !== undefined) throw new Error(`the indexer ended with ${ended}`);
      const indexed = await indexedBlock(port);
      return indexed !== null && indexed >= blockNumber ? indexed : null;
    }).catch((error: Error) => {
      throw new Error(`${error.message}\n${script.log().slice(-LOG_SHOWN)}`);
    });
  };
  return { ...script, reach };
}

async function indexedBlock(port: number): Promise<number | null> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/status`);
    const status = (await response.json()) as Record<string, { block?: { number: number } }>;
    return status.scored?.block?.number ?? null;
  } catch {
    return null;
  }
}
