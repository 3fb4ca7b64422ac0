import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeDeployment } from "../../../service/chain/deployments.ts";
import type { Database } from "../../../service/db/database.ts";
import { createTestDatabase, openMigrated } from "../test-database.ts";
import { startTestChain, type TestChain } from "./chain.ts";
import { startIndexer, type TestIndexer } from "./indexer.ts";
import type { Script } from "./script.ts";
import { startServer, startWorker, type TestServer } from "./services.ts";

export type Testkit = {
  readonly chain: TestChain;
  readonly db: Database;
  readonly databaseUrl: string;
  readonly deploymentFile: string;
  /** For logs and whatever else the test writes; removed with the rest. */
  readonly folder: string;
  /** Processes of ours on this chain and database; whatever still runs at the end is stopped. */
  readonly startIndexer: (rpcUrl?: string) => Promise<TestIndexer>;
  readonly startWorker: () => Script;
  readonly startServer: (port?: number) => Promise<TestServer>;
  /** Whatever is to be ended before database and chain go, newest first. */
  readonly onClose: (end: () => Promise<void>) => void;
  readonly close: () => Promise<void>;
};

export type TestkitOptions = {
  /** How far back genesis lies. */
  readonly ageSeconds?: number;
};

/** A chain with the contracts and an empty, migrated database, for one test file alone. */
export async function bootTestkit({ ageSeconds }: TestkitOptions = {}): Promise<Testkit> {
  const folder = mkdtempSync(join(tmpdir(), "ahs-testkit-"));
  const [chain, database] = await Promise.all([startTestChain(ageSeconds), createTestDatabase()]);
  const deploymentFile = join(folder, "deployment.json");
  writeDeployment(deploymentFile, chain.deployment);
  const db = openMigrated(database.url);

  const options = { folder, databaseUrl: database.url, rpcUrl: chain.rpcUrl, deploymentFile };
  const ends: (() => Promise<void>)[] = [];
  const stopLater = <Started extends Script>(script: Started): Started => {
    ends.push(script.stop);
    return script;
  };
  return {
    chain,
    db,
    databaseUrl: database.url,
    deploymentFile,
    folder,
    startIndexer: async (rpcUrl = chain.rpcUrl) => stopLater(await startIndexer({ ...options, rpcUrl })),
    startWorker: () => stopLater(startWorker(options)),
    startServer: async (port) => stopLater(await startServer(options, port)),
    onClose: (end) => {
      ends.push(end);
    },
    close: async () => {
      for (const end of ends.reverse()) await end();
      await db.$client.end();
      await Promise.all([chain.stop(), database.drop()]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
