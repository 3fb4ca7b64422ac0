/** Writing systems that cannot be taken for one another. */
export type Script =
  | "latin"
  | "cyrillic"
  | "greek"
  | "arabic"
  | "hebrew"
  | "devanagari"
  | "bengali"
  | "tamil"
  | "telugu"
  | "thai"
  | "georgian"
  | "armenian"
  | "han"
  | "kana"
  | "hangul"
  | "other";

/** Languages that are written in one way only, by their names in lower case. */
export const SCRIPT_OF_LANGUAGE: Readonly<Record<string, readonly Script[]>> = {
  english: ["latin"],
  french: ["latin"],
  german: ["latin"],
  spanish: ["latin"],
  italian: ["latin"],
  portuguese: ["latin"],
  dutch: ["latin"],
  turkish: ["latin"],
  vietnamese: ["latin"],
  indonesian: ["latin"],
  russian: ["cyrillic"],
  ukrainian: ["cyrillic"],
  bulgarian: ["cyrillic"],
  greek: ["greek"],
  arabic: ["arabic"],
  persian: ["arabic"],
  farsi: ["arabic"],
  urdu: ["arabic"],
  hebrew: ["hebrew"],
  hindi: ["devanagari"],
  nepali: ["devanagari"],
  marathi: ["devanagari"],
  bengali: ["bengali"],
  tamil: ["tamil"],
  telugu: ["telugu"],
  thai: ["thai"],
  georgian: ["georgian"],
  armenian: ["armenian"],
  chinese: ["han"],
  mandarin: ["han"],
  japanese: ["kana", "han"],
  korean: ["hangul"],
};

/** First and last code point of each script's letters, ascending. */
const LETTERS: readonly (readonly [first: number, last: number, script: Script])[] = [
  [0x41, 0x5a, "latin"],
  [0x61, 0x7a, "latin"],
  [0xc0, 0xd6, "latin"],
  [0xd8, 0xf6, "latin"],
  [0xf8, 0x24f, "latin"],
  [0x370, 0x3ff, "greek"],
  [0x400, 0x52f, "cyrillic"],
  [0x531, 0x58f, "armenian"],
  [0x5d0, 0x5ea, "hebrew"],
  [0x620, 0x6ff, "arabic"],
  [0x750, 0x77f, "arabic"],
  [0x780, 0x8ff, "other"],
  [0x900, 0x97f, "devanagari"],
  [0x980, 0x9ff, "bengali"],
  [0xa00, 0xb7f, "other"],
  [0xb80, 0xbff, "tamil"],
  [0xc00, 0xc7f, "telugu"],
  [0xc80, 0xdff, "other"],
  [0xe01, 0xe4e, "thai"],
  [0xe80, 0x109f, "other"],
  [0x10a0, 0x10ff, "georgian"],
  [0x1100, 0x11ff, "hangul"],
  [0x1200, 0x1dff, "other"],
  [0x1e00, 0x1eff, "latin"],
  [0x1f00, 0x1fff, "greek"],
  [0x3041, 0x30ff, "kana"],
  [0x3130, 0x318f, "hangul"],
  [0x3400, 0x9fff, "han"],
  [0xa000, 0xabff, "other"],
  [0xac00, 0xd7a3, "hangul"],
  [0xf900, 0xfaff, "han"],
  [0xfb50, 0xfdff, "arabic"],
  [0xfe70, 0xfefe, "arabic"],
  [0xff21, 0xff5a, "latin"],
  [0xff66, 0xff9f, "kana"],
  [0x20000, 0x3ffff, "han"],
];

/** How many letters of a text are of each script, and of all; signs, digits and symbols count for none. */
export function lettersByScript(text: string): {
  readonly counts: ReadonlyMap<Script, number>;
  readonly total: number;
} {
  const counts = new Map<Script, number>();
  let total = 0;
  for (let index = 0; index < text.length; index += 1) {
    const point = text.codePointAt(index) ?? 0;
    if (point > 0xffff) index += 1;
    const script = scriptOf(point);
    if (script === null) continue;
    counts.set(script, (counts.get(script) ?? 0) + 1);
    total += 1;
  }
  return { counts, total };
}

function scriptOf(point: number): Script | null {
  for (const [first, last, script] of LETTERS) {
    if (point < first) return null;
    if (point <= last) return script;
  }
  return null;
}
