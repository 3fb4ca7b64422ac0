import { createQuoteSearch, quoteOf } from "./quotes.ts";
import type { OutputCheck, PanelCase } from "./types.ts";

/** Claims read in one output. Further ones repeat the first. */
const MAX_CLAIMS = 40;
/** Fewer words may be a title or a paraphrase. */
const MIN_WORDS = 4;
/** Share of the quoted words that an order has if it was only paraphrased. */
const PARAPHRASED_SHARE = 0.35;
/** Characters by which words are compared, so that endings do not matter. */
const STEM = 5;
/** Numbers of an order that are combined with each other. A table of numbers proves nothing. */
const MAX_NUMBERS = 40;

/** The order as outputs name it. “The requirements” or “the brief” may be those of any document. */
const SPEC = String.raw`(?:the|your|this|our|client['’]s)\s+(?:written |original |job )?(?:spec(?:ification)?|acceptance criteri(?:a|on))`;
const SAYS = `(?:says?|states?|reads?|requires?|asks? for|demands?|specif(?:y|ies)|sets?|allows?|permits?|calls? for|prescribes?|wants?)`;
const QUOTED = String.raw`["“„«](?<quote>[^"“”„«»\n]{8,300})["”“»]`;
const QUANTITY = String.raw`(?<number>\d[\d.,]{0,15})[\s\u00a0]?(?<unit>%|\p{L}{2,20})`;
/** Words of one clause: in the next one the number may be the output's own. */
const SAME_CLAUSE = String.raw`(?:(?!\b(?:is|are|was|were|has|have|we|our|and|but|while|which|this|it)\b)[^.!?,;:()\n\d"“„«]){0,40}`;
/** Ways to claim words or a quantity of the order. */
const CLAIMS: readonly RegExp[] = [
  new RegExp(String.raw`\b${SPEC}\b(?:\s\w+){0,2}?\s+${SAYS}\b[^.!?\n"“„«]{0,40}${QUOTED}`, "giu"),
  new RegExp(
    String.raw`${QUOTED}\s{0,3}[([](?:from |see |per |as per )?(?:the |your )?(?:spec(?:ification)?|acceptance criteri(?:a|on))[)\]]`,
    "giu",
  ),
  new RegExp(String.raw`\b${SPEC}\b(?:\s\w+){0,2}?\s+${SAYS}\b${SAME_CLAUSE}${QUANTITY}`, "giu"),
];

/** Words of an order that brings another document, which “the specification” may name. */
const OTHER_DOCUMENT =
  /https?:|\b(?:specs?|specifications?|acceptance criteria|rfcs?|eips?|ercs?|iso|ietf|w3c|standards?|documents?|attach\w*|files?|pdfs?|papers?|apis?|openapi|protocols?|drafts?|schemas?|tenders?|datasheets?|manuals?)\b/i;
/** Words that every English order has. */
const ENGLISH = /\b(?:the|of|and|with|each|must|write|for)\b/gi;

/**
 * Finds an output that quotes words or a quantity as those of the specification, which neither specification nor criteria have. Null if
 * they may be a paraphrase, a sum or of another document. “As required: 3 %” is no such claim: the number may be the answer.
 */
export function checkCitations({
  outputText,
  specText,
  acceptanceCriteria,
}: Pick<PanelCase, "outputText" | "specText" | "acceptanceCriteria">): OutputCheck | null {
  const order = `${specText}\n${acceptanceCriteria ?? ""}`;
  const claims = CLAIMS.flatMap((pattern) => [...outputText.matchAll(pattern)].slice(0, MAX_CLAIMS));
  if (claims.length === 0 || OTHER_DOCUMENT.test(order) || !isEnglish(order)) return null;
  const isOfOrder = createQuoteSearch([order], 1);
  const stems = new Set(stemsOf(order));
  const amounts = amountsOf(order);
  const isFalse = (claim: RegExpExecArray) => {
    const { quote, number = "", unit = "" } = claim.groups ?? {};
    if (quote === undefined) return isOtherQuantity({ number, unit }, amounts);
    if (quote.split(/\[?(?:…|\.{3})\]?/).every(isOfOrder)) return false;
    return isForeign(quote, stems) || quantitiesIn(quote).some((each) => isOtherQuantity(each, amounts));
  };
  const found = claims.find(isFalse);
  if (found === undefined) return null;
  return {
    name: "misquoted_spec",
    finding: `The output cites the specification for what neither specification nor criteria say: “${quoteOf(found[0].replace(/["“”„«»]/g, "'"))}”.`,
    criterion: null,
  };
}

function isEnglish(order: string): boolean {
  const found = order.slice(0, 20_000).match(ENGLISH) ?? [];
  return new Set(found.map((word) => word.toLowerCase())).size >= 2;
}

function stemsOf(text: string): readonly string[] {
  return (text.toLowerCase().match(/[\p{L}\p{M}]{4,}/gu) ?? []).map((word) => word.slice(0, STEM));
}

/** True if an order has hardly any of the quoted words. */
function isForeign(quote: string, stems: ReadonlySet<string>): boolean {
  const quoted = [...new Set(stemsOf(quote))];
  const known = quoted.filter((stem) => stems.has(stem)).length;
  return quoted.length >= MIN_WORDS && known <= quoted.length * PARAPHRASED_SHARE;
}

type Quantity = { number: string; unit: string };

const EACH_QUANTITY = new RegExp(QUANTITY, "gu");
const NUMBER_WORDS = new Map(
  [
    ..."zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen".split(
      " ",
    ),
    ..."seventeen eighteen nineteen twenty".split(" "),
  ].map((word, value) => [word, value] as const),
);
/** Words of numbers that are not read. */
const MORE_NUMBER_WORDS =
  /\b(?:thirty|forty|fifty|sixty|seventy|eighty|ninety|hundreds?|thousands?|millions?|billions?|dozens?|half|halves|thirds?|quarters?|double|twice|couple)\b|\d\s?k\b/i;

function quantitiesIn(text: string): readonly Quantity[] {
  return [...text.matchAll(EACH_QUANTITY)].map(({ groups }) => ({
    number: groups?.number ?? "",
    unit: groups?.unit ?? "",
  }));
}

/** Units of an order, and every number that it gives or that two of its numbers make. Null if its numbers cannot be read as such. */
function amountsOf(order: string) {
  const numbers = order.match(/\d[\d.,]*/g) ?? [];
  if (numbers.length > MAX_NUMBERS || MORE_NUMBER_WORDS.test(order)) return null;
  const words = order.toLowerCase().match(/\b[a-z]{3,9}\b/g) ?? [];
  const inWords = words.flatMap((word) => NUMBER_WORDS.get(word) ?? []);
  const given = [...new Set([...numbers.flatMap(valuesOf), ...inWords])];
  const made = given.flatMap((one) =>
    given.flatMap((other) => [one + other, one - other, one * other, other === 0 ? one : one / other]),
  );
  return {
    units: new Set(quantitiesIn(order).map(({ unit }) => unitOf(unit))),
    values: new Set([...given, ...made]),
  };
}

/** True if an order gives amounts of the same unit, from none of which this one follows. */
function isOtherQuantity({ number, unit }: Quantity, amounts: ReturnType<typeof amountsOf>): boolean {
  if (amounts === null || !amounts.units.has(unitOf(unit))) return false;
  return !valuesOf(number).some((value) => amounts.values.has(value));
}

function unitOf(unit: string): string {
  const plain = unit.toLowerCase();
  return /^per(?:cent)?$/.test(plain) ? "%" : plain.replace(/s$/, "");
}

/** Values that a written number may have, since a comma or a point may separate thousands. */
function valuesOf(number: string): readonly number[] {
  const plain = number.replace(/[.,]+$/, "");
  return [plain.replace(/[.,]/g, ""), plain.replace(/,/g, ""), plain.replace(/\./g, "").replace(",", ".")]
    .map(Number)
    .filter((value) => Number.isFinite(value));
}
