import { findInstructions, sentencesOf } from "./find-command.ts";
import type { Block } from "./read-question.ts";
import { coverage, missingWords, presentWords, significantWords } from "./significant-words.ts";

/** Result of an honest reading of the fenced texts: the same for every role. */
export type CaseReading = {
  readonly output: string;
  /** In the order of the criteria; none where the specification has none. */
  readonly criteria: readonly {
    readonly id: string;
    readonly met: "yes" | "no" | "unclear";
    /** Words of the output, or which are missing; never empty. */
    readonly evidence: string;
  }[];
  /** How much of what was asked for is there, 0 to 1. */
  readonly shareMet: number;
  /** Sentences of the data that address the judge. */
  readonly instructions: readonly string[];
  /** Those of them that the output holds. */
  readonly outputInstructions: readonly string[];
  /** Sentences in which the output says itself that it is not what was asked for. */
  readonly admissions: readonly string[];
  /** Sentences with figures that none of the other texts has. */
  readonly uncheckable: readonly string[];
};

/** Half of its words show a requirement to be met, a quarter leaves it open. */
const MET_FROM = 0.5;
const OPEN_FROM = 0.25;
/** Without criteria: what share of the specification's words is all, and what share is nothing. */
const ALL_AT = 0.5;
const NOTHING_AT = 0.1;
const QUOTE_LETTERS = 160;
const MAX_QUOTES = 5;

const ADMISSION =
  /\b(?:lorem ipsum|placeholder|tbd|todo|fixme|not (?:yet )?implemented|coming soon|as an ai|i (?:could|can) ?not (?:access|complete|find)|made[- ]up|fictitious|dummy data)\b/i;

/** Reads specification, criteria, output and evidence by the words that they share. */
export function readCase(blocks: readonly Block[]): CaseReading {
  const textOf = (label: string) => blocks.find((block) => block.label === label)?.text ?? "";
  const evidence = blocks.filter(({ label }) => label.startsWith("evidence_")).map(({ text }) => text);
  const [specification, output] = [textOf("specification"), textOf("output")];
  const delivered = [output, ...evidence].join("\n");
  const present = presentWords(delivered);
  const sentences = sentencesOf(delivered).map((sentence) => ({ sentence, words: presentWords(sentence) }));
  const criteria = criteriaOf(textOf("criteria")).map((criterion) =>
    readCriterion(criterion, { present, sentences }),
  );
  const asked = significantWords(withoutInstructions(specification));
  const outputInstructions = findInstructions(output);
  const others = presentWords([specification, textOf("criteria"), ...evidence].join("\n"));
  return {
    output,
    criteria,
    shareMet:
      criteria.length > 0 ? mean(criteria.map(({ met }) => VALUE[met])) : shareOf(coverage(asked, present)),
    instructions: [specification, textOf("criteria"), ...evidence]
      .flatMap(findInstructions)
      .concat(outputInstructions),
    outputInstructions,
    admissions: sentencesOf(output)
      .filter((sentence) => ADMISSION.test(sentence))
      .slice(0, MAX_QUOTES)
      .map(quoted),
    uncheckable: sentencesOf(output)
      .filter((sentence) => figuresOf(sentence).some((figure) => !others.has(figure)))
      .slice(0, MAX_QUOTES)
      .map(quoted),
  };
}

/** The beginning of a text, unchanged. */
export function quoted(text: string): string {
  return [...text.trim()].slice(0, QUOTE_LETTERS).join("");
}

const VALUE = { yes: 1, unclear: 0.5, no: 0 } as const;

/** Lines `c1: text`; a line without an id goes on with the criterion before. */
function criteriaOf(text: string) {
  const criteria: { id: string; text: string }[] = [];
  for (const line of text.split("\n")) {
    const [, id, begin] = /^(c\d+):\s?(.*)$/.exec(line) ?? [];
    const last = criteria.at(-1);
    if (id !== undefined && begin !== undefined) criteria.push({ id, text: begin });
    else if (last !== undefined) criteria.splice(-1, 1, { ...last, text: `${last.text}\n${line}` });
  }
  return criteria;
}

type Delivered = {
  readonly present: ReadonlySet<string>;
  readonly sentences: readonly { readonly sentence: string; readonly words: ReadonlySet<string> }[];
};

function readCriterion(
  { id, text }: ReturnType<typeof criteriaOf>[number],
  { present, sentences }: Delivered,
): CaseReading["criteria"][number] {
  const required = withoutInstructions(text);
  const wanted = significantWords(required);
  if (wanted.size === 0 && required !== text)
    return { id, met: "unclear", evidence: "asks its judge for something, not the output" };
  const share = coverage(wanted, present);
  if (share >= MET_FROM) return { id, met: "yes", evidence: bestSentence(sentences, wanted) };
  const missing = missingWords(wanted, present).slice(0, MAX_QUOTES);
  return {
    id,
    met: share >= OPEN_FROM ? "unclear" : "no",
    evidence: `The output does not mention ${missing.join(", ")}.`,
  };
}

/** The text without the sentences that speak to its judge. */
function withoutInstructions(text: string): string {
  const instructions = new Set(findInstructions(text));
  if (instructions.size === 0) return text;
  return sentencesOf(text)
    .filter((sentence) => !instructions.has(sentence))
    .join("\n");
}

function bestSentence(sentences: Delivered["sentences"], wanted: ReadonlyMap<string, string>): string {
  let best = { sentence: "", share: -1 };
  for (const { sentence, words } of sentences) {
    const share = coverage(wanted, words);
    if (share > best.share) best = { sentence, share };
  }
  return quoted(best.sentence);
}

/** Amounts, percentages and numbers of three digits and more. */
function figuresOf(sentence: string): readonly string[] {
  return sentence.match(/\d{3,}(?:[.,]\d+)*|\d+(?:[.,]\d+)*(?=\s?%)/g) ?? [];
}

function shareOf(covered: number): number {
  return Math.min(1, Math.max(0, (covered - NOTHING_AT) / (ALL_AT - NOTHING_AT)));
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
