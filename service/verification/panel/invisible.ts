/** Classes of characters by their use, each tested with one character. Joining and unspaced are blocks, unassigned characters included. */
export const CLASS = {
  /** Invisible in every position. Tabs and line breaks count as visible; joiners, selectors and tags depend on their position. */
  invisible:
    /[[\p{Cc}\p{Cs}\p{Co}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb\ufffe\uffff\u{ffffe}\u{fffff}\u{10fffe}\u{10ffff}]--[\t\n\r\x85\xad\u061c\u180b-\u180d\u180f\u200c-\u200f\ufe00-\ufe0f\ufeff\u{e0000}-\u{e0fff}]]/v,
  letter: /\p{L}/u,
  ofWord: /[\p{L}\p{M}\p{N}]/u,
  tag: /[\u{e0000}-\u{e007f}]/u,
  selector: /[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/u,
  pictograph: /[#*0-9©®‼⁉™ℹ\u2190-\u2bff\u3030-\u303d\u3297-\u3299\u{1f000}-\u{1faff}]/u,
  ideograph: /[\u3400-\u9fff\uf900-\ufaff\u{20000}-\u{3ffff}]/u,
  /** Scripts with joiners: Arabic to Sinhala, Tibetan, Myanmar, Khmer, Mongolian, Tai Tham to Balinese, Meetei and related ones. */
  joining:
    /[\u0600-\u0dff\u0f00-\u109f\u1780-\u18af\u1a20-\u1bff\ua840-\uabff\ufb50-\ufdff\ufe70-\ufefe\u{10a00}-\u{11fff}\u{1e900}-\u{1e95f}]/u,
  /** Hebrew, Arabic and related scripts. */
  rightToLeft: /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u,
  /** Scripts without spaces between words: Thai, Lao, kana, ideographs and their punctuation, Hangul. */
  unspaced: /[\u0e00-\u0eff\u3000-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff00-\uffef\u{20000}-\u{3ffff}]/u,
} as const;

/** Longest tag sequence of a flag: seven letters and an end tag. */
const FLAG_TAGS = 8;

/**
 * True if the character at an index is invisible and has no function there: zero-width and control characters, overrides of direction,
 * tags, private use, fillers, unpaired surrogates. Joiners in emoji and in scripts that need them, one variation selector after its base,
 * soft hyphens between letters, direction marks beside right-to-left letters and a leading byte order mark have a function. The work is
 * bounded for every text.
 */
export function isInvisibleAt(text: string, index: number): boolean {
  const unit = text.charCodeAt(index);
  if (unit >= 0x20 && unit < 0x7f) return false;
  const character = characterAt(text, index);
  return CLASS.invisible.test(character) || isMisplaced(text, index, character);
}

function isMisplaced(text: string, index: number, character: string): boolean {
  const before = characterBefore(text, index);
  const after = characterAt(text, index + 1);
  switch (character) {
    case "\u00ad":
      return !(CLASS.letter.test(before) && CLASS.letter.test(after));
    case "\u200c":
      return !CLASS.joining.test(before);
    case "\u200d":
      return !CLASS.joining.test(before) && !joinsPictographs(text, index);
    case "\u200e":
    case "\u200f":
      return !CLASS.rightToLeft.test(before) && !CLASS.rightToLeft.test(after);
    case "\ufeff":
      return index > 0;
  }
  if (CLASS.tag.test(character)) return !isTagOfFlag(text, index);
  if (!CLASS.selector.test(character)) return false;
  // One selector varies its base. A row of selectors carries data.
  return character.length > 1 ? !CLASS.ideograph.test(before) : before <= " " || CLASS.selector.test(before);
}

function joinsPictographs(text: string, index: number): boolean {
  const before = characterBefore(text, index);
  const varied = before === "\ufe0f" ? characterBefore(text, index - 1) : before;
  return CLASS.pictograph.test(varied) && CLASS.pictograph.test(characterAt(text, index + 1));
}

/** Tags after a black flag name a subdivision. */
function isTagOfFlag(text: string, index: number): boolean {
  for (let back = 2; back <= 2 * FLAG_TAGS; back += 2) {
    const before = characterAt(text, index - back);
    if (before === "\u{1f3f4}") return true;
    if (!CLASS.tag.test(before)) return false;
  }
  return false;
}

/** The character at an index; empty outside of the text. */
export function characterAt(text: string, index: number): string {
  const point = text.codePointAt(index);
  return point === undefined ? "" : String.fromCodePoint(point);
}

/** The character before an index; empty at the start. */
export function characterBefore(text: string, index: number): string {
  const isLow = /[\udc00-\udfff]/.test(text.charAt(index - 1));
  return characterAt(text, isLow && index > 1 ? index - 2 : index - 1);
}

/** Returns the first invisible character of a text as U+200B, with the number of characters before it; null without one. */
export function findInvisible(text: string): { name: string; after: number } | null {
  let [index, after] = [0, 0];
  for (const character of text) {
    if (isInvisibleAt(text, index)) return { name: nameOf(character), after };
    index += character.length;
    after += 1;
  }
  return null;
}

export function nameOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}
