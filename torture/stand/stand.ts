import { randomBytes, randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SCRIPTED_APPEAL_MODEL } from "../../devnet/scripted-model/completion.ts";
import { type ScriptedModel, startScriptedModel } from "../../devnet/scripted-model/start-scripted-model.ts";
import { createApiKey } from "../../service/access/api-keys.ts";
import { writeDeployment } from "../../service/chain/deployments.ts";
import { type Database, migrateDatabase, openDatabase } from "../../service/db/database.ts";
import { startCuttableProxy } from "../../test/support/anvil-testkit/cuttable-proxy.ts";
import { createRandom, type Random } from "../random.ts";
import { startStandChain } from "./chain.ts";
import type { DatabaseServer } from "./database-server.ts";
import { startNodeProxy } from "./node-proxy.ts";
import { startReceiver } from "./receiver.ts";
import { startServices } from "./services.ts";

/** Everything that a run needs: a chain, a database, what can be taken away between, and our processes. */
export type Stand = Awaited<ReturnType<typeof openStand>>;

export type StandKey = { readonly id: string; readonly secret: string; readonly balanceUnits: number };

const RATE_PER_MINUTE = 10_000_000;
/** Duration of each answer of a model. */
const MODEL_MS = 60;

/** Starts everything; whatever was started when it throws is known to `onStart`. */
export async function openStand({
  seed,
  startingDatabases,
  onStart,
}: {
  seed: number;
  /** Starts beside the chain. */
  startingDatabases: Promise<DatabaseServer>;
  /** Receives at once every function that ends something, newest last. */
  onStart: (end: () => Promise<void>) => void;
}) {
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
    panel: {
      PANEL_BASE_URL: model.baseUrl,
      PANEL_MODEL: model.model,
      PANEL_APPEAL_BASE_URL: model.baseUrl,
      PANEL_APPEAL_MODEL: SCRIPTED_APPEAL_MODEL,
      APPEAL_WINDOW_SECONDS: "5",
    },
  });
  onStart(services.stop);
  return {
    seed,
    /** A generator of its own for each name. */
    random,
    folder,
    deploymentFile,
    databases,
    /** Straight to PostgreSQL. */
    databaseUrl,
    db,
    /** Between our processes and PostgreSQL. */
    database,
    /** Between our processes and the chain's node. */
    node,
    chain: () => chain,
    /** Puts a chain of its own history in the place of the one there is. */
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
    /** Makes a metered key. */
    createKey: async (balanceUnits: number): Promise<StandKey> => {
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
