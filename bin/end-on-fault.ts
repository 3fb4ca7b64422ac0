import { inspect } from "node:util";
import type { Scrub } from "./secrets/scrub.ts";

/**
 * Ends the process with 1 at an uncaught error, after a call of the given function: Node itself prints such an error without
 * scrubbing. The function of the last call reports the error.
 */
export function endOnFault(tell: (error: unknown) => void): void {
  const end = (error: unknown) => {
    try {
      tell(error);
    } finally {
      process.exit(1);
    }
  };
  process.prependListener("uncaughtException", end);
  process.prependListener("unhandledRejection", end);
}

/** Leaves such errors to listeners that are added from now on. */
export function leaveFaultsToOthers(): void {
  process.removeAllListeners("uncaughtException");
  process.removeAllListeners("unhandledRejection");
}

/** Writes an error with its stack and causes, as Node would have, to standard error, scrubbed. */
export function writeFault(error: unknown, scrub: Scrub): void {
  process.stderr.write(`${scrub(inspect(error))}\n`);
}
