import { Registry } from "prom-client";
import { parseConfig } from "../bin/config.ts";
import { createLogger, openMigratedDatabase, shutdownSignal } from "../bin/process.ts";
import { runPanelWork } from "../bin/work/verification.ts";

/** The verdict loop of `ahs work`, alone in its process. */
const config = parseConfig(process.env);
const logger = createLogger(config, "panel");
const signal = shutdownSignal();
const { db, clock } = await openMigratedDatabase(config, "ahs-panel", { logger, signal });
const common = {
  chainId: 31_337,
  registry: new Registry(),
  now: clock.now,
  readReleased: async () => null,
};
await runPanelWork({ ...common, config, db, logger }, signal);
await db.$client.end();
