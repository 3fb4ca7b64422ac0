import { StringDecoder } from "node:string_decoder";
import type { Scrub } from "./scrub.ts";

/**
 * Has whatever this process writes to standard output or error from now on scrubbed, text or bytes, by whichever library: Ponder makes
 * its own logger, which takes no destination, and writes to a replaced output instead of the file descriptor. Lines go out whole, so
 * that none hides a secret in two pieces; the function returned writes what has no line end yet. For a process that prints no secret
 * on purpose.
 */
export function scrubOutput(scrub: Scrub, outputs: readonly NodeJS.WriteStream[]): () => void {
  const endings = outputs.map((output) => {
    const write = output.write.bind(output) as (text: string, done?: unknown) => boolean;
    const lines = wholeLines();
    // One implementation for the two signatures of write.
    output.write = ((chunk: string | Uint8Array, ...rest: unknown[]) => {
      const bytes = typeof chunk === "string" ? Buffer.from(chunk, encodingOf(rest[0])) : chunk;
      return write(scrub(lines.take(bytes)), rest.find(isCallback));
    }) as typeof output.write;
    return () => write(scrub(lines.rest()));
  });
  return () => {
    for (const end of endings) end();
  };
}

/** Gives of what it takes the lines that are whole, and keeps the rest. */
function wholeLines() {
  const decoder = new StringDecoder("utf8");
  let kept = "";
  return {
    take(bytes: Uint8Array): string {
      const text = kept + decoder.write(bytes);
      const end = text.lastIndexOf("\n") + 1;
      kept = text.slice(end);
      return text.slice(0, end);
    },
    rest(): string {
      const text = kept + decoder.end();
      kept = "";
      return text;
    },
  };
}

function encodingOf(given: unknown): BufferEncoding {
  return typeof given === "string" && Buffer.isEncoding(given) ? given : "utf8";
}

function isCallback(given: unknown): boolean {
  return typeof given === "function";
}
