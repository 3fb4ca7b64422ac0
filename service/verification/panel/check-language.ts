import { type Asking, type Clause, clausesAround, skip, words } from "./asked-clauses.ts";
import { quoteOf } from "./quotes.ts";
import type { OutputCheck } from "./types.ts";

/** Scripts that no reader confuses. */
type Script =
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

/** Scripts of languages with one writing system, by lower-case name. */
const SCRIPT_OF_LANGUAGE: Readonly<Record<string, readonly Script[]>> = {
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

/** Counts the letters of each script and all letters. Signs, digits and symbols do not count. */
function lettersByScript(text: string): {
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

/** Fewer letters prove nothing, since names and code may be foreign in any text. */
const MIN_LETTERS = 60;
/** A text in the right language has a larger share of its script, even with much code and many names. */
const OWN_SHARE = 0.05;

const NAMES = new RegExp(`\\b(?:${Object.keys(SCRIPT_OF_LANGUAGE).join("|")})\\b`, "gi");
const VERBS = words("write respond answer reply translate output deliver provide summarise summarize");
const SUBJECTS = words(
  "output response answer result reply deliverable submission translation text report article language",
);
const BETWEEN = words(
  "a an the your this whole entire full final short brief long complete following above in into to only entirely fully exclusively " +
    "be is must should shall has have needs need written answer response output text summary report article essay story poem letter " +
    "email post translation document it everything all language please :",
);
const BEFORE = words("please then you must should always the your entire whole final");
/** Words that may also mean the input text. They count only with a word of obligation. */
const GIVEN = words("text report article");
const MUST = words("must should shall has have needs need");
const TRANSLATE = /\b(?:translat|locali[sz]|subtitl|interpret)/i;
/** Words that leave a choice or refer to something else. */
const ELSEWHERE = words(
  "not no never without avoid don't don’t instead than if when unless either or both bilingual",
);
const AFTER = words("only language please");

/** Finds an output with hardly a letter of the requested language's script; null if that is not certain. */
export function checkLanguage(outputText: string, askings: readonly Asking[]): OutputCheck | null {
  const isTranslation = askings.some(({ text }) => TRANSLATE.test(text));
  const asked = clausesAround(askings, NAMES).flatMap((clause) => {
    // In a translation, another clause may name the source language.
    if (isTranslation && !TRANSLATE.test(clause.source)) return [];
    const language = askedLanguage(clause);
    return language === null ? [] : [{ language, clause }];
  });
  const first = asked[0];
  if (first === undefined || asked.some(({ language }) => language !== first.language)) return null;
  const letters = lettersByScript(outputText);
  const own = (SCRIPT_OF_LANGUAGE[first.language] ?? []).reduce(
    (sum, script) => sum + (letters.counts.get(script) ?? 0),
    0,
  );
  if (letters.total < MIN_LETTERS || own >= letters.total * OWN_SHARE) return null;
  const latin = letters.counts.get("latin") ?? 0;
  // Other languages are also written in Latin letters.
  if (latin > letters.total / 2 && !isEuropean(outputText)) return null;
  return {
    name: "wrong_language",
    finding: `“${quoteOf(first.clause.source, 80)}” asks for another script: of ${letters.total} letters of the output ${own} are of it, as in “${quoteOf(outputText, 100)}”.`,
    criterion: first.clause.criterion,
  };
}

/** Returns the one language that a clause requires for the whole output. */
function askedLanguage({ words: all, criterion }: Clause): string | null {
  const colon = all.findIndex(
    (word, index) => word === ":" && Object.hasOwn(SCRIPT_OF_LANGUAGE, all[index - 1] ?? ""),
  );
  const order = colon < 0 ? all : all.slice(0, colon);
  const kept = order.filter((word, index) => word !== "from" && order[index - 1] !== "from");
  const named = kept.filter((word) => Object.hasOwn(SCRIPT_OF_LANGUAGE, word));
  const [language] = named;
  if (language === undefined || named.length > 1 || kept.some((word) => ELSEWHERE.has(word))) return null;
  const at = kept.indexOf(language);
  const next = kept[at + 1];
  if (!(next === undefined || AFTER.has(next) || (next === "," && kept.length === at + 2))) return null;
  const before = skip(kept.slice(0, at), BEFORE);
  const [first = ""] = before;
  if (criterion === null && GIVEN.has(first) && !before.some((word) => MUST.has(word))) return null;
  const opens = VERBS.has(first) || SUBJECTS.has(first) || (criterion !== null && BETWEEN.has(first));
  const leads = ["in", "into", "to", ":", "be", "is", "only", "entirely"].includes(kept[at - 1] ?? "");
  return opens && leads && before.slice(1).every((word) => BETWEEN.has(word)) ? language : null;
}

/** Frequent words of English, German, French, Spanish, Italian, Portuguese and Dutch that romanised languages do not have. */
const FREQUENT = words(
  "of and with which from that this was for have been their und der die ist nicht auf eine von les est dans pour qui que los las para " +
    "por como della che nella não uma com het een voor",
);
/** Texts in these languages exceed this share; romanised texts with foreign phrases do not. */
const FREQUENT_SHARE = 0.05;
/** Characters that are enough to recognise a language. */
const READ_CHARACTERS = 20_000;

/** True if a text in Latin letters is in one of these languages. */
function isEuropean(text: string): boolean {
  const all =
    text
      .slice(0, READ_CHARACTERS)
      .toLowerCase()
      .match(/\p{L}+/gu) ?? [];
  return all.filter((word) => FREQUENT.has(word)).length >= FREQUENT_SHARE * all.length;
}
