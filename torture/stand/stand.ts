import { randomBytes, randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ScriptedModel, startScriptedModel } from "../../devnet/scripted-model/start-scripted-model.ts";
import { createApiKey } from "../../service/access/api-keys.ts";
import { writeDeployment } from "../../service/chain/deployments.ts";
import { type Database, migrateDatabase, openDatabase } from "../../service/db/database.ts";
import { type CuttableProxy, startCuttableProxy } from "../../test/support/anvil-testkit/cuttable-proxy.ts";
import { createRandom, type Random } from "../random.ts";
import { type StandChain, startStandChain } from "./chain.ts";
import type { DatabaseServer } from "./database-server.ts";
import { type NodeProxy, startNodeProxy } from "./node-proxy.ts";
import { type Receiver, startReceiver } from "./receiver.ts";
import { type Services, startServices } from "./services.ts";

/** Everything that a run stands on: a chain, a database, what can be taken away between, and our processes. */
export type Stand = {
  readonly seed: number;
  /** A generator of its own for each name. */
  readonly random: (name: string) => Random;
  readonly folder: string;
  readonly deploymentFile: string;
  readonly databases: DatabaseServer;
  /** Straight to PostgreSQL. */
  readonly databaseUrl: string;
  readonly db: Database;
  /** Between our processes and PostgreSQL. */
  readonly database: CuttableProxy;
  /** Between our processes and the chain's node. */
  readonly node: NodeProxy;
  readonly chain: () => StandChain;
  /** Puts a chain of its own history in the place of the one there is. */
  readonly replaceChain: () => Promise<void>;
  readonly model: ScriptedModel;
  readonly receiver: Receiver;
  readonly services: Services;
  /** Makes a metered key. */
  readonly createKey: (balanceUnits: number) => Promise<StandKey>;
};

export type StandKey = { readonly id: string; readonly secret: string; readonly balanceUnits: number };

export type StandOptions = {
  readonly seed: number;
  /** Starts beside the chain. */
  readonly startingDatabases: Promise<DatabaseServer>;
  /** Is told at once of everything that is to be ended, newest last. */
  readonly onStart: (end: () => Promise<void>) => void;
};

const RATE_PER_MINUTE = 10_000_000;
/** Duration of each answer of a model. */
const MODEL_MS = 60;

/** Starts everything; whatever was started when it throws is known to `onStart`. */
export async function openStand({ seed, startingDatabases, onStart }: StandOptions): Promise<Stand> {
  const folder = mkdtempSync(join(tmpdir(), "ahs-torture-"));
  onStart(async () => rmSync(folder, { recursive: true, force: true }));
  const random = (name: string): Random => createRandom(seed ^ hashOf(name));
  let chain = await startStandChain(random("agents"));
  onStart(() => chain.test.stop());
  const databases = await startingDatabases;
  const databaseUrl = await databases.createDatabase("torture");
  const db = await openMigrated(databaseUrl);
  onStart(() => db.$client.end());
  const deploymentFile = join(folder, "deployment.json");
  writeDeployment(deploymentFile, chain.test.deployment);

  const [model, receiver, database, node] = await Promise.all([
    startScriptedModel({ chainId: chain.test.deployment.chainId }),
    startReceiver(),
    startCuttableProxy(databaseUrl),
    startNodeProxy(chain.test.rpcUrl, random("node")),
  ]);
  for (const end of [model.stop, receiver.close, database.close, node.close]) onStart(end);
  await slowModel(model, MODEL_MS);
  const services = await startServices({
    folder,
    databaseUrl: database.url,
    rpcUrl: node.url,
    deploymentFile,
    panel: { PANEL_BASE_URL: model.baseUrl, PANEL_MODEL: model.model },
  });
  onStart(services.stop);
  return {
    seed,
    random,
    folder,
    deploymentFile,
    databases,
    databaseUrl,
    db,
    database,
    node,
    chain: () => chain,
    replaceChain: async () => {
      const before = chain;
      const fresh = await startStandChain(random("other agents"));
      node.retarget(fresh.test.rpcUrl);
      chain = fresh;
      await before.test.stop();
    },
    model,
    receiver,
    services,
    createKey: async (balanceUnits) => {
      const wanted = { name: "torture", partner: false, expiresAt: null, ratePerMinute: RATE_PER_MINUTE };
      const entropy = { randomBytes, randomUuid: randomUUID };
      const { key, secret } = await createApiKey(db, { ...wanted, balanceUnits }, entropy);
      return { id: key.id, secret, balanceUnits };
    },
  };
}

/** Has the scripted model take its time over every answer. */
export async function slowModel({ origin }: ScriptedModel, ms: number): Promise<void> {
  await fetch(`${origin}/scripted/behaviour`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ slow_ms: ms }),
  });
}

/** Opens a database that the run looks into, with our schema at its newest. */
export async function openMigrated(url: string): Promise<Database> {
  const db = openDatabase({
    url,
    applicationName: "ahs-torture",
    maxConnections: 6,
    // An index that starts locks what readers want, and on a busy machine takes its time.
    statementTimeoutMs: 180_000,
    connectTimeoutMs: 5_000,
    onIdleError: () => undefined,
  });
  await migrateDatabase(db);
  return db;
}

/** FNV-1a. */
function hashOf(text: string): number {
  let value = 0x811c9dc5;
  for (const character of text) value = Math.imul(value ^ character.charCodeAt(0), 0x01000193);
  return value >>> 0;
}
