import type { Scrub } from "./scrub.ts";

/**
 * Has whatever this process writes to standard output or error from now on scrubbed, by whichever library: Ponder makes its own
 * logger, which takes no destination, and writes to a replaced output instead of the file descriptor. For a process that prints no
 * secret on purpose.
 */
export function scrubOutput(scrub: Scrub, outputs: readonly NodeJS.WriteStream[]): void {
  for (const output of outputs) {
    const write = output.write.bind(output) as (...given: unknown[]) => boolean;
    // One implementation for the three signatures of write: what is no text goes through as it is.
    output.write = ((chunk: unknown, ...rest: unknown[]) =>
      write(typeof chunk === "string" ? scrub(chunk) : chunk, ...rest)) as typeof output.write;
  }
}
