import { quoteOf } from "./check-quote.ts";
import { createSeenWindows, hashWindows } from "./check-shingles.ts";
import type { OutputCheck } from "./types.ts";

/** Seven words or so: shared by texts on one subject now and then, not all the time. */
const WINDOW = 40;
/** More than half: what quotes its task and answers it stays below. */
const COPIED_SHARE = 0.6;
/** A sentence or two may be all that was asked for. */
const MIN_COPIED = 160;

/** An output most of which stands word for word in what the client wrote; null where it does not, or is short. */
export function checkCopied(outputText: string, given: readonly string[]): OutputCheck | null {
  const output = wordsOf(outputText);
  const windows = given.map((text) => hashWindows(wordsOf(text), WINDOW));
  const known = createSeenWindows(windows.reduce((sum, { length }) => sum + length, 0));
  for (const hashes of windows) for (const hash of hashes) known.add(hash);
  const copied = countCopied(hashWindows(output, WINDOW), known);
  const share = copied.characters / output.length;
  if (copied.characters < MIN_COPIED || share < COPIED_SHARE) return null;
  const quote = quoteOf(output.slice(copied.start, copied.start + 160));
  return {
    name: "copied_from_spec",
    finding: `Of the output ${Math.floor(share * 100)} % stands word for word in the specification, such as “${quote}”.`,
    criterion: null,
  };
}

/** Characters that a known window covers, and where the longest stretch of them starts. */
function countCopied(hashes: Uint32Array, known: { readonly has: (hash: number) => boolean }) {
  let characters = 0;
  let coveredTo = 0;
  let run = { start: 0, length: 0 };
  let longest = run;
  hashes.forEach((hash, index) => {
    if (!known.has(hash)) return;
    characters += index + WINDOW - Math.max(index, coveredTo);
    run =
      index <= coveredTo && run.length > 0
        ? { start: run.start, length: run.length + 1 }
        : { start: index, length: 1 };
    if (run.length > longest.length) longest = run;
    coveredTo = index + WINDOW;
  });
  return { characters, start: longest.start };
}

/** Letters and digits with one blank between words: neither layout nor punctuation makes a copy another text. */
function wordsOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}]+/gu, " ")
    .trim();
}
