import { readFileSync } from "node:fs";
import { INDEX_SETTINGS_VARIABLE, type IndexSettings } from "../../service/chain/index-settings.ts";
import { leaveFaultsToOthers } from "../end-on-fault.ts";

type TransactionFilter = { type: string; includeReverted?: boolean };
type BuiltApp = { indexingBuild: { eventCallbacks: { filter: TransactionFilter }[][] } };
type Start = (options: {
  cliOptions: Record<string, unknown>;
  onBuild: (app: BuiltApp) => Promise<BuiltApp>;
}) => Promise<unknown>;

/** dist/esm/index.js of the installed package. */
const PONDER = import.meta.resolve("ponder");

export type PonderOptions = {
  readonly root: string;
  readonly schema: string;
  /** Of views that Ponder makes itself, as a bench wants it; null leaves the views to take-over.ts. */
  readonly viewsSchema: string | null;
  readonly port: number;
  readonly logLevel: string;
  readonly settings: IndexSettings;
};

/**
 * Runs the Ponder app in this process until it is told to stop (SIGINT; SIGTERM leaves the schema locked).
 * Ponder drops reverted transactions and has no option for it: the filters are told here, before it syncs.
 */
export async function startPonder(options: PonderOptions): Promise<void> {
  // Ponder prefers PORT, which is the API's, to the port that it is given.
  delete process.env.PORT;
  process.env[INDEX_SETTINGS_VARIABLE] = JSON.stringify(options.settings);
  const { version } = JSON.parse(readFileSync(new URL("../../package.json", PONDER), "utf8")) as {
    version: string;
  };
  const [major, minor, patch] = version.split(".").map(Number);
  const start = await importStart();
  // Its own listeners end it in order, and write to the output that is scrubbed.
  leaveFaultsToOthers();
  await start({
    cliOptions: {
      command: "start",
      root: options.root,
      config: "ponder.config.ts",
      schema: options.schema,
      ...(options.viewsSchema === null ? {} : { viewsSchema: options.viewsSchema }),
      hostname: "127.0.0.1",
      port: options.port,
      logLevel: options.logLevel,
      logFormat: "json",
      version: { version, major, minor, patch },
    },
    onBuild: async (app) => {
      for (const { filter } of app.indexingBuild.eventCallbacks.flat()) {
        if (filter.type === "transaction") filter.includeReverted = true;
      }
      return app;
    },
  });
  // Started, it goes on by itself, and ends the process itself.
  await new Promise<never>(() => undefined);
}

/** The start command is not among Ponder's exports; its own tests call it the same way. */
async function importStart(): Promise<Start> {
  const module = (await import(new URL("./bin/commands/start.js", PONDER).href)) as { start: Start };
  return module.start;
}
