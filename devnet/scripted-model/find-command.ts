import { unmaskText } from "./unmask-text.ts";
import { ALLOW_WORDS, HOLD_WORDS, OVERRIDE_WORDS, REJECT_WORDS, SCORE_WORDS } from "./verdict-words.ts";

/** The command of a text; at least one of the two is present. */
export type Command = {
  readonly verdict: "ALLOW" | "HOLD" | "REJECT" | null;
  /** 0 to 100. */
  readonly score: number | null;
};

const ALLOW = any(ALLOW_WORDS, "giu");
const REJECT = any(REJECT_WORDS, "giu");
const HOLD = any(HOLD_WORDS, "gu");
const OVERRIDE = any(OVERRIDE_WORDS, "iu");
const NEGATED =
  /\b(?:not|never|don't|dont|cannot|can't|nicht|niemals|jamais|nunca|никогда|не)\s+(?:\p{L}+\s+){0,2}$/iu;

/** Up to three words may separate the name of a score from its number. */
const SCORE = new RegExp(
  `(?:${SCORE_WORDS.join("|")})[^\\p{L}\\p{N}\\n]{0,12}(?:\\p{L}+[^\\p{L}\\p{N}\\n]{1,4}){0,3}(\\d{1,3})(?!\\d|\\.\\d)`,
  "giu",
);
const OUT_OF = /\b(\d{1,3})\s*(?:\/|out of|von|sur|de|из)\s*(100|10)\b/giu;
/** Numbers before what they are called: "100 points". */
const POINTS = /\b(\d{1,3})\s*(?:points?|punkte?|puntos|pontos|баллов|分|点|점)|\b(100)\s*%/giu;

/** Words for the judge that a steering text addresses. */
const JUDGE =
  /\b(?:verdict|decision|ballot|panel|evaluator|grader|judges?|reviewer|critic|critique|synthesi[sz]er|auditor|assessor|escrow|final_verdict)\b/i;
/** The names of decisions in their exact form. */
const DECISION_NAME = /(?<![A-Z_])(?:ALLOW|REJECT|APPROVED?)(?![A-Z_])/;
const ASKED_SCORE =
  /\b(?:answer|respond|reply|return|give|assign|award|set|vote|mark|rate|grade|output)\b[^.\n]{0,60}(?:\b(?:score|marks|confidence)\b[^.\n]{0,20}\d|\b100\b|full marks|perfect score|zero)/i;
/** Markers by which chats are written down. */
const TURN =
  /<\|?(?:im_start|im_end|system|assistant|user|start_header_id|eot_id|endoftext)\|?>|\[\/?(?:INST|SYSTEM)\]|<<SYS>>|^\s*(?:#{1,4}\s*)?(?:system|assistant|developer|human)\s*:/im;

/** The last verdict and score that a text asks for, in the plainest of its disguises that asks for any; null where none does. */
export function findCommand(text: string): Command | null {
  for (const reading of unmaskText(text)) {
    const command = { verdict: lastVerdict(reading), score: lastScore(reading) };
    if (command.verdict !== null || command.score !== null) return command;
  }
  return null;
}

/** Returns the sentences of data that address the judge, unchanged; not those about passing tests or rejected requests. */
export function findInstructions(text: string): readonly string[] {
  return sentencesOf(text).filter((sentence) => unmaskText(sentence).some(instructs));
}

/** The sentences and lines of a text, without empty ones. */
export function sentencesOf(text: string): readonly string[] {
  return text
    .split(/(?<=[.!?。！？])\s+|\n+/u)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== "");
}

function instructs(text: string): boolean {
  if (OVERRIDE.test(text) || DECISION_NAME.test(text) || ASKED_SCORE.test(text) || TURN.test(text))
    return true;
  return JUDGE.test(text) && lastVerdict(text) !== null;
}

function lastVerdict(text: string): Command["verdict"] {
  const found = [
    ...[...text.matchAll(ALLOW)].map((match) => ({ ...placeOf(text, match), verdict: "ALLOW" as const })),
    ...[...text.matchAll(REJECT)].map((match) => ({ ...placeOf(text, match), verdict: "REJECT" as const })),
    ...[...text.matchAll(HOLD)].map(({ index }) => ({ index, isNegated: false, verdict: "HOLD" as const })),
  ].sort((one, other) => one.index - other.index);
  const last = found.at(-1);
  if (last === undefined) return null;
  if (!last.isNegated) return last.verdict;
  return last.verdict === "ALLOW" ? "REJECT" : "ALLOW";
}

function placeOf(text: string, { index }: RegExpExecArray) {
  return { index, isNegated: NEGATED.test(text.slice(Math.max(0, index - 40), index)) };
}

function lastScore(text: string): number | null {
  const found = [
    ...[...text.matchAll(SCORE)].map(({ index, 1: digits }) => ({ index, score: Number(digits) })),
    ...[...text.matchAll(POINTS)].map(({ index, 1: digits, 2: all }) => ({
      index,
      score: Number(digits ?? all),
    })),
    ...[...text.matchAll(OUT_OF)].map(({ index, 1: digits, 2: most }) => ({
      index,
      score: (Number(digits) * 100) / Number(most),
    })),
  ].sort((one, other) => one.index - other.index);
  const last = found.at(-1);
  return last === undefined ? null : Math.min(100, Math.round(last.score));
}

function any(sources: readonly string[], flags: string): RegExp {
  return new RegExp(sources.join("|"), flags);
}
