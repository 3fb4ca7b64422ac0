/** Characters that nobody sees or that only space: a marker is no less one for having them between its digits. */
const UNSEEN = "[\\p{Cc}\\p{Cf}\\p{Default_Ignorable_Code_Point}\\p{Mn}\\p{Me}\\p{Z}]";
const ONE_UNSEEN = new RegExp(`^${UNSEEN}$`, "u");
const RUNS_OF_UNSEEN = new RegExp(`${UNSEEN}+`, "gu");
/** All that a text of ASCII alone has of it, which is found much faster. */
const RUNS_OF_UNSEEN_ASCII = /[\0- \x7F]+/g;
const NOT_ASCII = /[^\0-\x7F]/;

/** A character that stays for now, how many signs a reader takes it for, and how much of the marker ends with it. */
type Kept = { readonly character: string; readonly signs: number; readonly matched: number };

/**
 * All that a reader sees of a text, without case, width, style, accents and space: it holds a marker in lower case where and only
 * where stripMarker takes one out. The same for every marker, and much faster than to look for each in the text itself.
 */
export function seenSigns(text: string): string {
  const seen = NOT_ASCII.test(text)
    ? text.normalize("NFKD").replaceAll(RUNS_OF_UNSEEN, "")
    : text.replaceAll(RUNS_OF_UNSEEN_ASCII, "");
  return seen.toLowerCase();
}

/**
 * The text without any occurrence of the marker (letters and digits), in any case, width or style and with unseen characters between.
 * What a removal joins to a new occurrence is removed too, in one pass: time grows with the text alone.
 */
export function stripMarker(text: string, marker: string): string {
  const digits = [...marker.toLowerCase()];
  const fallbacks = fallbacksOf(digits);
  const kept: Kept[] = [];
  for (const character of text) {
    const signs = signsOf(character);
    let matched = kept.at(-1)?.matched ?? 0;
    const end = signs.findIndex((sign) => {
      matched = advance({ digits, fallbacks, matched }, sign);
      return matched === digits.length;
    });
    if (end === -1) kept.push({ character, signs: signs.length, matched });
    else dropLast(kept, digits.length - 1 - end);
  }
  return kept.map(({ character }) => character).join("");
}

/** Takes characters of so many signs from the end, and the unseen ones between them. */
function dropLast(kept: Kept[], signs: number): void {
  let left = signs;
  while (left > 0) left -= kept.pop()?.signs ?? left;
}

type Automaton = {
  readonly digits: readonly string[];
  readonly fallbacks: readonly number[];
  readonly matched: number;
};

/** Knuth, Morris and Pratt: how much of the marker is matched once the character has come. */
function advance({ digits, fallbacks, matched }: Automaton, character: string): number {
  let length = matched;
  while (length > 0 && digits[length] !== character) length = fallbacks[length - 1] ?? 0;
  return digits[length] === character ? length + 1 : 0;
}

/** For every beginning of the marker, the length of its longest end that is a beginning as well. */
function fallbacksOf(digits: readonly string[]): number[] {
  const fallbacks = [0];
  for (let index = 1; index < digits.length; index += 1) {
    const matched = fallbacks[index - 1] ?? 0;
    fallbacks.push(advance({ digits, fallbacks, matched }, digits[index] ?? ""));
  }
  return fallbacks;
}

/** What a reader takes a character for, without its case, width, style and accents: two letters for a ligature, none if it is unseen. */
function signsOf(character: string): readonly string[] {
  if (character > " " && character < "\x7F") return [character.toLowerCase()];
  const seen = [...character.normalize("NFKD")].filter((part) => !ONE_UNSEEN.test(part));
  return seen.map((part) => part.toLowerCase());
}
