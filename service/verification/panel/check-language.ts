import { type Asking, type Clause, clausesAround } from "./asked-clauses.ts";
import { quoteOf } from "./check-quote.ts";
import { lettersByScript, SCRIPT_OF_LANGUAGE } from "./check-scripts.ts";
import { isEuropean } from "./european-words.ts";
import type { OutputCheck } from "./types.ts";
import { skip, words } from "./word-set.ts";

/** Names and code may be foreign in any text, so fewer letters tell nothing. */
const MIN_LETTERS = 60;
/** In a text of the language asked for, even one full of code and names, more letters than these are its script's. */
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
/** What may be the text that is worked on as well: only what it must be is asked for. */
const GIVEN = words("text report article");
const MUST = words("must should shall has have needs need");
const TRANSLATE = /\b(?:translat|locali[sz]|subtitl|interpret)/i;
/** What leaves a choice, or speaks of something else. */
const ELSEWHERE = words(
  "not no never without avoid don't don’t instead than if when unless either or both bilingual",
);
const AFTER = words("only language please");

/** An output hardly a letter of which is of the script that the language asked for is written in; null where that is not so plain. */
export function checkLanguage(outputText: string, askings: readonly Asking[]): OutputCheck | null {
  const isTranslation = askings.some(({ text }) => TRANSLATE.test(text));
  const asked = clausesAround(askings, NAMES).flatMap((clause) => {
    // In an order to translate, the language that a text is in may be the one to translate from.
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
  // Many languages are written in Latin letters as well.
  if (latin > letters.total / 2 && !isEuropean(outputText)) return null;
  return {
    name: "wrong_language",
    finding: `“${quoteOf(first.clause.source, 80)}” asks for another script: of ${letters.total} letters of the output ${own} are of it, as in “${quoteOf(outputText, 100)}”.`,
    criterion: first.clause.criterion,
  };
}

/** The one language that a clause orders the whole output in. */
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
