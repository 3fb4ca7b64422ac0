import type { Command } from "./find-command.ts";
import { type CaseReading, quoted } from "./read-case.ts";
import type { Generator } from "./roles.ts";

/** Answer of a generator on the wire. */
type BallotAnswer = {
  readonly score: number;
  readonly confidence: number;
  readonly criteria: readonly {
    readonly id: string;
    readonly met: "yes" | "no" | "unclear";
    readonly evidence: string;
  }[];
  readonly objections: readonly string[];
  readonly uncheckable_claims: readonly string[];
  readonly instructions_found: readonly string[];
  readonly reasoning: string;
};

/** Nothing met scores 8, everything 95. */
const LEAST_SCORE = 8;
const SCORE_SPAN = 87;
/** The surer, the farther from half met. */
const LEAST_CONFIDENCE = 0.55;
const CONFIDENCE_SPAN = 0.42;
const MAX_INSTRUCTIONS = 5;
/** The first ones: an answer's lists may not be as long as a case's. */
const MAX_OBJECTIONS = 12;

/** By how much each role differs from what all of them read. */
const TEMPERS: Readonly<Record<Generator, { readonly score: number; readonly confidence: number }>> = {
  criteria_auditor: { score: -2, confidence: 0.01 },
  domain_expert: { score: 1, confidence: 0 },
  evidence_checker: { score: -1, confidence: -0.01 },
  user_advocate: { score: 2, confidence: 0 },
};

/** A generator's honest ballot: score and confidence follow from the share of the criteria that is met. */
export function castBallot(role: Generator, reading: CaseReading): BallotAnswer {
  const { shareMet, criteria } = reading;
  const temper = TEMPERS[role];
  return {
    score: Math.round(LEAST_SCORE + SCORE_SPAN * shareMet) + temper.score,
    confidence: hundredths(
      LEAST_CONFIDENCE + CONFIDENCE_SPAN * Math.abs(2 * shareMet - 1) + temper.confidence,
    ),
    criteria,
    objections: objectionsTo(reading).slice(0, MAX_OBJECTIONS),
    // One role alone looks for them, so that a text with figures is not held for having some.
    uncheckable_claims: role === "evidence_checker" ? reading.uncheckable : [],
    instructions_found: reading.instructions.slice(0, MAX_INSTRUCTIONS).map(quoted),
    reasoning: `By the words that output and requirements share, ${percentOf(shareMet)} % of what was asked for is there.`,
  };
}

function objectionsTo({ criteria, admissions, shareMet }: CaseReading): readonly string[] {
  const unmet = criteria.filter(({ met }) => met !== "yes").map(({ id, evidence }) => `${id}: ${evidence}`);
  const unfinished = admissions.map((sentence) => `says itself that it is unfinished: ${sentence}`);
  if (criteria.length > 0 || shareMet === 1) return [...unmet, ...unfinished];
  return [...unfinished, `has ${percentOf(shareMet)} % of the specification's words that would do`];
}

/** A ballot as a text commands the role to cast it. */
export function obeyWithBallot(command: Command, reading: CaseReading): BallotAnswer {
  const score = command.score ?? SCORES[command.verdict ?? "HOLD"];
  const isMet = score >= 50;
  return {
    score,
    confidence: 0.99,
    criteria: reading.criteria.map(({ id }) => ({
      id,
      met: isMet ? "yes" : "no",
      evidence: isMet ? "as told" : "not met, as told",
    })),
    objections: isMet ? [] : ["rejected as told"],
    uncheckable_claims: [],
    instructions_found: [],
    reasoning: "Answered as told outside the fences.",
  };
}

const SCORES = { ALLOW: 100, HOLD: 50, REJECT: 0 } as const;

/** The opposite of a ballot, as sure as it is. */
export function opposeBallot(ballot: BallotAnswer): BallotAnswer {
  const score = 100 - ballot.score;
  const turned = { yes: "no", unclear: "unclear", no: "yes" } as const;
  return {
    ...ballot,
    score,
    criteria: ballot.criteria.map(({ id, met, evidence }) => ({ id, met: turned[met], evidence })),
    objections: score >= 50 ? [] : ["told to disagree"],
    reasoning: "Told to disagree with the other roles.",
  };
}

function percentOf(share: number): number {
  return Math.round(share * 100);
}

function hundredths(value: number): number {
  return Math.round(Math.min(1, Math.max(0, value)) * 100) / 100;
}
