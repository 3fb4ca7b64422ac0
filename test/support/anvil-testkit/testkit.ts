import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeDeployment } from "../../../service/chain/deployments.ts";
import { type Database, migrateDatabase, openDatabase } from "../../../service/store/database.ts";
import { createTestDatabase } from "../test-database.ts";
import { startTestChain, type TestChain } from "./chain.ts";
import { startIndexer, type TestIndexer } from "./indexer.ts";

export type Testkit = {
  readonly chain: TestChain;
  readonly db: Database;
  readonly databaseUrl: string;
  readonly deploymentFile: string;
  /** For logs and whatever else the test writes; removed with the rest. */
  readonly folder: string;
  readonly startIndexer: () => Promise<TestIndexer>;
  /** Whatever is to be ended before database and chain go, newest first. */
  readonly onClose: (end: () => Promise<void>) => void;
  readonly close: () => Promise<void>;
};

export type TestkitOptions = {
  /** How far back genesis lies. */
  readonly ageSeconds?: number;
};

/** A chain with the contracts and an empty, migrated database, for one test file alone. */
export async function bootTestkit(options: TestkitOptions = {}): Promise<Testkit> {
  const folder = mkdtempSync(join(tmpdir(), "ahs-testkit-"));
  const [chain, database] = await Promise.all([startTestChain(options.ageSeconds), createTestDatabase()]);
  const deploymentFile = join(folder, "deployment.json");
  writeDeployment(deploymentFile, chain.deployment);
  const db = openTestDatabase(database.url);
  await migrateDatabase(db);

  const ends: (() => Promise<void>)[] = [];
  return {
    chain,
    db,
    databaseUrl: database.url,
    deploymentFile,
    folder,
    startIndexer: async () => {
      const indexer = await startIndexer({ folder, databaseUrl: database.url, rpcUrl: chain.rpcUrl, deploymentFile });
      ends.push(indexer.stop);
      return indexer;
    },
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

function openTestDatabase(url: string): Database {
  return openDatabase({
    url,
    applicationName: "ahs-test",
    maxConnections: 5,
    statementTimeoutMs: 10_000,
    connectTimeoutMs: 3_000,
    onIdleError: () => undefined,
  });
}
