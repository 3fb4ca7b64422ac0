import { type Asking, type Clause, clausesAround, skip, words } from "./asked-clauses.ts";
import { quoteOf } from "./quotes.ts";
import type { OutputCheck } from "./types.ts";

/** Languages with one writing system, in lower case, by the scripts of it, which no reader confuses. */
const LANGUAGES = {
  latin: "english french german spanish italian portuguese dutch turkish vietnamese indonesian",
  cyrillic: "russian ukrainian bulgarian",
  greek: "greek",
  arabic: "arabic persian farsi urdu",
  hebrew: "hebrew",
  devanagari: "hindi nepali marathi",
  bengali: "bengali",
  tamil: "tamil",
  telugu: "telugu",
  thai: "thai",
  georgian: "georgian",
  armenian: "armenian",
  han: "chinese mandarin",
  "kana han": "japanese",
  hangul: "korean",
};

const SCRIPTS_OF_LANGUAGE = new Map(
  Object.entries(LANGUAGES).flatMap(([scripts, languages]) =>
    languages.split(" ").map((language) => [language, scripts.split(" ")] as const),
  ),
);

/** Letters of each script; those of `other` belong to none of them. */
const LETTERS = {
  latin: /[A-Za-z\xc0-\xd6\xd8-\xf6\xf8-\u024f\u1e00-\u1eff\uff21-\uff5a]/gu,
  greek: /[\u0370-\u03ff\u1f00-\u1fff]/gu,
  cyrillic: /[\u0400-\u052f]/gu,
  armenian: /[\u0531-\u058f]/gu,
  hebrew: /[\u05d0-\u05ea]/gu,
  arabic: /[\u0620-\u06ff\u0750-\u077f\ufb50-\ufdff\ufe70-\ufefe]/gu,
  devanagari: /[\u0900-\u097f]/gu,
  bengali: /[\u0980-\u09ff]/gu,
  tamil: /[\u0b80-\u0bff]/gu,
  telugu: /[\u0c00-\u0c7f]/gu,
  thai: /[\u0e01-\u0e4e]/gu,
  georgian: /[\u10a0-\u10ff]/gu,
  han: /[\u3400-\u9fff\uf900-\ufaff\u{20000}-\u{3ffff}]/gu,
  kana: /[\u3041-\u30ff\uff66-\uff9f]/gu,
  hangul: /[\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3]/gu,
  other: /[\u0780-\u08ff\u0a00-\u0b7f\u0c80-\u0dff\u0e80-\u109f\u1200-\u1dff\ua000-\uabff]/gu,
};

/** Fewer letters prove nothing, since names and code may be foreign in any text. */
const MIN_LETTERS = 60;
/** A text in the right language has a larger share of its script, even with much code and many names. */
const OWN_SHARE = 0.05;

const NAMES = new RegExp(`\\b(?:${[...SCRIPTS_OF_LANGUAGE.keys()].join("|")})\\b`, "gi");
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
  const lettersOf = (scripts: readonly string[]) =>
    Object.entries(LETTERS)
      .filter(([script]) => scripts.includes(script))
      .reduce((sum, [, letters]) => sum + (outputText.match(letters)?.length ?? 0), 0);
  const total = lettersOf(Object.keys(LETTERS));
  const own = lettersOf(SCRIPTS_OF_LANGUAGE.get(first.language) ?? []);
  if (total < MIN_LETTERS || own >= total * OWN_SHARE) return null;
  // Other languages are also written in Latin letters.
  if (lettersOf(["latin"]) > total / 2 && !isEuropean(outputText)) return null;
  return {
    name: "wrong_language",
    finding: `“${quoteOf(first.clause.source, 80)}” asks for another script: of ${total} letters of the output ${own} are of it, as in “${quoteOf(outputText, 100)}”.`,
    criterion: first.clause.criterion,
  };
}

/** Returns the one language that a clause requires for the whole output. */
function askedLanguage({ words: all, criterion }: Clause): string | null {
  const colon = all.findIndex((word, index) => word === ":" && SCRIPTS_OF_LANGUAGE.has(all[index - 1] ?? ""));
  const order = colon < 0 ? all : all.slice(0, colon);
  const asked = order.filter((word, index) => word !== "from" && order[index - 1] !== "from");
  const named = asked.filter((word) => SCRIPTS_OF_LANGUAGE.has(word));
  const [language] = named;
  if (language === undefined || named.length > 1 || asked.some((word) => ELSEWHERE.has(word))) return null;
  const at = asked.indexOf(language);
  const next = asked[at + 1];
  if (!(next === undefined || AFTER.has(next) || (next === "," && asked.length === at + 2))) return null;
  const before = skip(asked.slice(0, at), BEFORE);
  const [first = ""] = before;
  if (criterion === null && GIVEN.has(first) && !before.some((word) => MUST.has(word))) return null;
  const opens = VERBS.has(first) || SUBJECTS.has(first) || (criterion !== null && BETWEEN.has(first));
  const leads = ["in", "into", "to", ":", "be", "is", "only", "entirely"].includes(asked[at - 1] ?? "");
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
  const start = text.slice(0, READ_CHARACTERS).toLowerCase();
  const all = start.match(/\p{L}+/gu) ?? [];
  return all.filter((word) => FREQUENT.has(word)).length >= FREQUENT_SHARE * all.length;
}
