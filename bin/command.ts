import type { Logger } from "pino";
import { type Deployment, loadDeployment } from "../service/chain/deployments.ts";
import type { Database } from "../service/db/database.ts";
import { openDatabaseClock } from "../service/db/database-clock.ts";
import { type Config, requireIndexSettings } from "./config.ts";
import { createLogger, MACHINE_CLOCK, openProcessDatabase } from "./process.ts";

/** Runs what a command does on the configured database, by the database's time. The database is closed afterwards. */
export async function withDatabase(
  config: Config,
  name: string,
  run: (db: Database, process: { readonly logger: Logger; readonly now: () => Date }) => Promise<void>,
): Promise<void> {
  const logger = createLogger(config, name);
  const db = openProcessDatabase(config, `ahs-${name}`, logger);
  try {
    const { now } = await openDatabaseClock(db, MACHINE_CLOCK);
    await run(db, { logger, now });
  } finally {
    await db.$client.end();
  }
}

/** The deployment of a command that reads one chain from the database only; throws with the names of all missing settings. */
export function indexedDeployment(config: Config): Deployment {
  return loadDeployment(requireIndexSettings(config).deploymentFile);
}

/** A command whose first argument names an action; throws with the usage for any other. */
export function actionsOf<Deps>(
  usage: string,
  actions: Readonly<Record<string, (args: readonly string[], deps: Deps) => void | Promise<void>>>,
) {
  return async (args: readonly string[], deps: Deps): Promise<void> => {
    const [action, ...rest] = args;
    const run = action === undefined || !Object.hasOwn(actions, action) ? undefined : actions[action];
    if (run === undefined) throw unknownAction(action, usage);
    await run(rest, deps);
  };
}

export function unknownAction(action: string | undefined, usage: string): Error {
  return new Error(`${action === undefined ? "no action" : `unknown action "${action}"`}\n${usage}`);
}

/** The one argument that is expected; throws with what was given for none or several. */
export function onlyOne(positionals: readonly string[], fault: string, usage: string): string {
  const [given, ...more] = positionals;
  if (given !== undefined && more.length === 0) return given;
  throw new Error(`${fault}, got "${positionals.join(" ")}"\n${usage}`);
}
