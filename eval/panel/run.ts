import { readOptions, USAGE } from "./options.ts";
import { runLive } from "./run-live.ts";
import { runReplay } from "./run-replay.ts";

try {
  const options = readOptions(process.argv.slice(2), process.env);
  const broken = options.mode === "live" ? await runLive(options) : runReplay(options);
  process.exitCode = broken > 0 ? 1 : 0;
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n${USAGE}\n`);
  process.exitCode = 2;
}
