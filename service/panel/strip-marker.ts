/** Characters that nobody sees or that only space: a marker is no less one for having them between its digits. */
const UNSEEN = "[\\p{Cc}\\p{Cf}\\p{Default_Ignorable_Code_Point}\\p{Mn}\\p{Me}\\p{Z}]";
const ONE_UNSEEN = new RegExp(`^${UNSEEN}$`, "u");

/** A character that stays for now, how many signs a reader takes it for, and how much of the marker ends with it. */
type Kept = { readonly character: string; readonly signs: number; readonly matched: number };

/**
 * The text without any occurrence of the marker (letters and digits), in any case, width or style and with unseen characters between.
 * What a removal joins to a new occurrence is removed too, in one pass: time grows with the text alone.
 */
export function stripMarker(text: string, marker: string): string {
  const digits = [...marker.toLowerCase()];
  // Nearly every text: nobody knows the marker of a call that is still to come.
  if (!new RegExp(digits.join(`${UNSEEN}*`), "iu").test(text.normalize("NFKD"))) return text;
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
