import { readFileSync } from "node:fs";
import { Client, type ClientBase } from "pg";
import {
  INDEX_SETTINGS_VARIABLE,
  type IndexSettings,
  loadDeployment,
} from "../../service/chain/deployments.ts";
import { leaveFaultsToOthers } from "../end-on-fault.ts";
import { type NodeRpc, withFollowedLogs } from "./followed-logs.ts";
import { withHeadsInOrder } from "./order-heads.ts";

type Addresses = string | readonly string[] | PonderFactoryWithId | null | undefined;
type PonderFactoryWithId = PonderFactory & { readonly id: string; readonly sourceId: string };
type PonderFilter = {
  type: string;
  includeReverted?: boolean;
  fromAddress?: Addresses;
  toAddress?: Addresses;
};
type BuiltApp = { indexingBuild: { rpcs: NodeRpc[]; eventCallbacks: { filter: PonderFilter }[][] } };
type Start = (options: {
  cliOptions: Record<string, unknown>;
  onBuild: (app: BuiltApp) => Promise<BuiltApp>;
}) => Promise<unknown>;

/** dist/esm/index.js of the installed package. */
const PONDER = import.meta.resolve("ponder");

/**
 * Runs the Ponder app in this process until SIGINT (SIGTERM leaves the schema locked).
 * Ponder drops reverted transactions, follows every address that a log of its factories' events names, and takes late answers for
 * reorgs. It has no option for any of these, so all are set here before it syncs.
 */
export async function startPonder(options: {
  root: string;
  schema: string;
  /** Of views that Ponder makes itself, as a bench wants it; null leaves the views to take-over.ts. */
  viewsSchema: string | null;
  host: string;
  port: number;
  logLevel: string;
  settings: IndexSettings;
}): Promise<void> {
  // Ponder prefers PORT, which is the API's, to the port that it is given.
  delete process.env.PORT;
  process.env[INDEX_SETTINGS_VARIABLE] = JSON.stringify(options.settings);
  const version = readPonderVersion();
  const [major, minor, patch] = version.split(".").map(Number);
  // Ponder does not export it; its own tests call it the same way.
  const { start } = await importFromPonder<{ start: Start }>("bin/commands/start.js");
  // Its own listeners end it in order, and write to the output that is scrubbed.
  leaveFaultsToOthers();
  await start({
    cliOptions: {
      command: "start",
      root: options.root,
      config: "ponder.config.ts",
      schema: options.schema,
      ...(options.viewsSchema === null ? {} : { viewsSchema: options.viewsSchema }),
      hostname: options.host,
      port: options.port,
      logLevel: options.logLevel,
      logFormat: "json",
      version: { version, major, minor, patch },
    },
    onBuild: async (app) => {
      const { indexingBuild } = app;
      const filters = indexingBuild.eventCallbacks.flat().map(({ filter }) => filter);
      for (const filter of filters) if (filter.type === "transaction") filter.includeReverted = true;
      const { unfollowed, databaseUrl, deploymentFile } = options.settings;
      const identityRegistry = loadDeployment(deploymentFile).identityRegistry.address;
      indexingBuild.rpcs = indexingBuild.rpcs.map((rpc) =>
        withHeadsInOrder(withFollowedLogs(rpc, { identityRegistry, unfollowed })),
      );
      await parkChildren(databaseUrl, factoriesOf(filters), unfollowed);
      return app;
    },
  });
  // Started, it goes on by itself, and ends the process itself.
  await new Promise<never>(() => undefined);
}

/** Each once, without what Ponder leaves out of its cache. */
function factoriesOf(filters: readonly PonderFilter[]): PonderFactory[] {
  const factories = new Map<string, PonderFactory>();
  for (const { fromAddress, toAddress } of filters) {
    for (const addresses of [fromAddress, toAddress]) {
      if (typeof addresses !== "object" || addresses === null || !("id" in addresses)) continue;
      const { id, sourceId: _, ...factory } = addresses;
      factories.set(id, factory);
    }
  }
  return [...factories.values()];
}

/** The version of the installed package. */
export function readPonderVersion(): string {
  const file = readFileSync(new URL("../../package.json", PONDER), "utf8");
  return (JSON.parse(file) as { version: string }).version;
}

/** A module that the package does not export, by its path below dist/esm. */
export async function importFromPonder<Module>(path: string): Promise<Module> {
  return (await import(new URL(`./${path}`, PONDER).href)) as Module;
}

/** A factory of Ponder's, as its cache of the chain names it. */
type PonderFactory = Readonly<Record<string, unknown>> & { readonly chainId: number };

/** Later than any block: Ponder follows an address from the block at which it was found. */
const NEVER = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * Has Ponder's factories follow none of the unfollowed addresses, and follow again those that are no longer among them. The rows
 * that they found are kept under the negative number of their factory, and one from a block that never comes represents each:
 * an address that a factory knows is not found again.
 */
async function parkChildren(
  databaseUrl: string,
  factories: readonly PonderFactory[],
  unfollowed: readonly string[],
): Promise<void> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query("begin");
    for (const factory of factories) await parkIn(client, factory, unfollowed);
    await client.query("commit");
  } finally {
    await client.end();
  }
}

async function parkIn(
  client: ClientBase,
  factory: PonderFactory,
  unfollowed: readonly string[],
): Promise<void> {
  const { rows } = await client.query<{ id: number }>(
    `insert into ponder_sync.factories (factory) values ($1::jsonb)
     on conflict (factory) do update set factory = excluded.factory returning id`,
    [JSON.stringify(factory)],
  );
  const id = rows[0]?.id;
  const table = "ponder_sync.factory_addresses";
  await client.query(`delete from ${table} where factory_id = $1 and block_number = $2`, [id, NEVER]);
  await client.query(
    `update ${table} set factory_id = $1 where factory_id = -($1::integer) and address <> all($2::text[])`,
    [id, unfollowed],
  );
  await client.query(
    `update ${table} set factory_id = -factory_id where factory_id = $1 and address = any($2::text[])`,
    [id, unfollowed],
  );
  await client.query(
    `insert into ${table} (factory_id, chain_id, block_number, address)
     select $1, $2, $3, unfollowed.address from unnest($4::text[]) as unfollowed (address)`,
    [id, factory.chainId, NEVER, unfollowed],
  );
}
