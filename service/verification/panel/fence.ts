import { estimateTokens } from "./estimate-tokens.ts";
import { neutraliseLookAlikes } from "./neutralise-look-alikes.ts";
import { seenSigns, stripMarker } from "./strip-marker.ts";

/** A text that is not ours, and the name that the prompts call it by. */
export type Block = {
  readonly label: string;
  /** Storable, and without anything that looks like a fence: only blockOf makes it. */
  readonly neutral: string;
  /** What is seen of it, in which markers are looked for. */
  readonly signs: string;
  /** About how many it takes of a model's, on the high side. */
  readonly tokens: number;
};

/** A block of any text: once for all the calls that it goes into, since this takes the longest. */
export function blockOf(label: string, text: string): Block {
  const neutral = neutraliseLookAlikes(storable(text));
  return { label, neutral, signs: seenSigns(neutral), tokens: estimateTokens(neutral) };
}

/**
 * Blocks between lines that carry the marker, in the order given. Whatever a text holds, no line of it is one of these: the marker, in
 * any case and style and with whatever unseen characters between, is taken out, and lines that look like a fence are broken. Throws for
 * a marker that is not 32 hexadecimal digits in lower case.
 */
export function fenceBlocks(blocks: readonly Block[], marker: string): string {
  if (!/^[0-9a-f]{32}$/.test(marker))
    throw new Error("A fence's marker has to be 32 hexadecimal digits in lower case");
  return blocks.map((block) => fence(block, marker)).join("\n\n");
}

function fence({ label, neutral, signs }: Block, marker: string): string {
  // Nearly no text holds it: nobody knows the marker of a call that is still to come. What a removal joins may look like a fence; to
  // neutralise makes no marker.
  const body = signs.includes(marker) ? neutraliseLookAlikes(stripMarker(neutral, marker)) : neutral;
  return `=== BEGIN ${label} ${marker} ===\n${body}\n=== END ${label} ${marker} ===`;
}

/** Models quote what they read, and no database takes a NUL or half of a surrogate pair. */
function storable(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\uFFFD");
}
