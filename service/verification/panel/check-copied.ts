import { quoteOf } from "./check-quote.ts";
import { createSeenWindows, hashWindows } from "./check-shingles.ts";
import { orderingPart, ordersWorkOnText } from "./ordering-part.ts";
import type { OutputCheck } from "./types.ts";

/** Seven words or so: shared by texts on one subject now and then, not all the time. */
const WINDOW = 40;
/** More than half: what quotes its task and answers it stays below. */
const COPIED_SHARE = 0.6;
/** A sentence or two may be all that was asked for. */
const MIN_COPIED = 160;
/** An order of less than a window is looked for as it is; below this it is no more than a word or two. */
const MIN_ORDER = 12;
/** The first line tells what is wanted; more than its beginning may be data. */
const OPENING = 120;

type Windows = { readonly has: (hash: number) => boolean };

/**
 * An output most of which stands word for word in what the client wrote, with the order itself in it; null where it does not, is
 * short, or where the order is to work on a text that the client gave: the order is what nobody wants to have back.
 */
export function checkCopied(outputText: string, given: readonly string[]): OutputCheck | null {
  const output = wordsOf(outputText);
  const hashes = hashWindows(output, WINDOW);
  const copied = countCovered(hashes, windowsOf(given.map(wordsOf)));
  const share = copied.characters / output.length;
  if (copied.characters < MIN_COPIED || share < COPIED_SHARE) return null;
  const orders = given.map(orderingPart);
  if (orders.some(ordersWorkOnText)) return null;
  const handedBack = windowsOf([output]);
  if (!orders.some((order) => isHandedBack(order, output, handedBack))) return null;
  const quote = quoteOf(output.slice(copied.start, copied.start + 160));
  return {
    name: "copied_from_spec",
    finding: `Of the output ${Math.floor(share * 100)} % stands word for word in the specification, such as “${quote}”.`,
    criterion: null,
  };
}

/** Whether most of an order stands in the output, and of one of several lines most of its first as well: below it may stand data. */
function isHandedBack(order: string, output: string, handedBack: Windows): boolean {
  const [opening = "", ...more] = order.split("\n").map(wordsOf);
  const parts = more.length === 0 ? [opening] : [opening.slice(0, OPENING), wordsOf(order)];
  return parts.every((part) => {
    if (part.length < WINDOW) return part.length >= MIN_ORDER && output.includes(part);
    return countCovered(hashWindows(part, WINDOW), handedBack).characters >= COPIED_SHARE * part.length;
  });
}

function windowsOf(texts: readonly string[]): Windows {
  const windows = texts.map((text) => hashWindows(text, WINDOW));
  const known = createSeenWindows(windows.reduce((sum, { length }) => sum + length, 0));
  for (const hashes of windows) {
    for (let index = 0; index < hashes.length; index += 1) known.add(hashes[index] ?? 0);
  }
  return known;
}

/** Characters that a known window covers, and where the longest stretch of them starts. */
function countCovered(hashes: Uint32Array, known: Windows) {
  let characters = 0;
  let coveredTo = 0;
  let run = { start: 0, length: 0 };
  let longest = run;
  for (let index = 0; index < hashes.length; index += 1) {
    if (!known.has(hashes[index] ?? 0)) continue;
    characters += index + WINDOW - Math.max(index, coveredTo);
    run =
      index <= coveredTo && run.length > 0
        ? { start: run.start, length: run.length + 1 }
        : { start: index, length: 1 };
    if (run.length > longest.length) longest = run;
    coveredTo = index + WINDOW;
  }
  return { characters, start: longest.start };
}

/** Letters and digits with one blank between words: neither layout nor punctuation makes a copy another text. */
function wordsOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}]+/gu, " ")
    .trim();
}
