import { withOwnNames } from "../../service/db/database.ts";
import { importFromPonder } from "./start-ponder.ts";

/** The parts of Ponder's modules that its cache takes; none has an exported type. */
type Shutdown = { readonly kill: () => Promise<void> };
type CreateDatabase = (options: Record<string, unknown>) => { readonly migrateSync: () => Promise<void> };
type Metrics = new () => unknown;

/** Fewer leave a pool of Ponder's without a connection. */
const MAX_CONNECTIONS = 5;

/** Makes the schema `ponder_sync` as Ponder itself does at its start; nothing where it is there. */
export async function makeCache(databaseUrl: string): Promise<void> {
  const { createDatabase } = await importFromPonder<{ createDatabase: CreateDatabase }>("database/index.js");
  const { createNoopLogger } = await importFromPonder<{ createNoopLogger: () => unknown }>(
    "internal/logger.js",
  );
  const { MetricsService } = await importFromPonder<{ MetricsService: Metrics }>("internal/metrics.js");
  const { createShutdown } = await importFromPonder<{ createShutdown: () => Shutdown }>(
    "internal/shutdown.js",
  );
  const shutdown = createShutdown();
  const poolConfig = { connectionString: withOwnNames(databaseUrl), max: MAX_CONNECTIONS };
  const database = createDatabase({
    common: {
      // Of the other commands some write into the schema of an index when they end.
      options: { command: "serve" },
      logger: createNoopLogger(),
      metrics: new MetricsService(),
      shutdown,
    },
    namespace: { schema: "ponder_sync" },
    preBuild: { databaseConfig: { kind: "postgres", poolConfig }, ordering: "multichain" },
    schemaBuild: { schema: {} },
  });
  try {
    await database.migrateSync();
  } finally {
    await shutdown.kill();
  }
}
