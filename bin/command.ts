import type { Logger } from "pino";
import { type Deployment, loadDeployment } from "../service/chain/deployments.ts";
import type { Database } from "../service/db/database.ts";
import { type Config, requireIndexSettings } from "./config.ts";
import { createLogger, openProcessDatabase } from "./process.ts";

/** Runs what a command does on the configured database, which is closed afterwards. */
export async function withDatabase(
  config: Config,
  name: string,
  run: (db: Database, logger: Logger) => Promise<void>,
): Promise<void> {
  const logger = createLogger(config, name);
  const db = openProcessDatabase(config, `ahs-${name}`, logger);
  try {
    await run(db, logger);
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
