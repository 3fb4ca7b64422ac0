import { type Options, readOptions, USAGE } from "./options.ts";
import { runAttacks } from "./run-attacks.ts";
import { runLive } from "./run-live.ts";
import { runReplay } from "./run-replay.ts";

try {
  const options = readOptions(process.argv.slice(2), process.env);
  process.exitCode = (await runMode(options)) > 0 ? 1 : 0;
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n${USAGE}\n`);
  process.exitCode = 2;
}

/** Returns the number of cases without a verdict. */
async function runMode(options: Options): Promise<number> {
  switch (options.mode) {
    case "live":
      return runLive(options);
    case "attacks":
      runAttacks(options);
      return 0;
    case "replay":
    case "import":
      return runReplay(options);
  }
}
