import type { Ballot, Critique, Synthesis } from "../../../../service/verification/panel/answers.ts";
import { MONEY_LIMITS } from "../../../../service/verification/panel/policy.ts";
import { type TallyInput, tally } from "../../../../service/verification/panel/tally.ts";
import {
  GENERATOR_ROLES,
  type GeneratorRole,
  type RoleAnswer,
  type TallyOutcome,
} from "../../../../service/verification/panel/types.ts";

/** A sure and favourable ballot, with what a case changes of it. */
export function aBallot(change: Partial<Ballot> = {}): Ballot {
  return {
    score: 80,
    confidence: 0.9,
    criteria: [],
    objections: [],
    uncheckableClaims: [],
    instructionsFound: [],
    reasoning: "It does what was asked.",
    ...change,
  };
}

/** A critique without a finding, with what a case changes of it. */
export function aCritique(change: Partial<Critique> = {}): Critique {
  return {
    challenges: [],
    missedIssues: [],
    fabricationRisk: "none",
    fabricationReason: "",
    specGaming: false,
    specGamingReason: "",
    caseFor: "It is complete.",
    caseAgainst: "It is short.",
    confidence: 0.9,
    ...change,
  };
}

/** A synthesis without an unmet criterion, with what a case changes of it. */
export function aSynthesis(change: Partial<Synthesis> = {}): Synthesis {
  return {
    metCriteria: [],
    unmetCriteria: [],
    keyObjections: [],
    reasoning: "All agree.",
    strongestDissent: "None.",
    ...change,
  };
}

/** An answer that counts. */
export function answer<Answer>(given: Answer): RoleAnswer<Answer> {
  return { kind: "answer", answer: given };
}

/** No answer. */
export const ABSTAINED = { kind: "abstained", reason: "off the schema" } as const;

/** The four ballots in the order of the roles; null abstains. */
export function ballotsOf(
  ballots: readonly (Partial<Ballot> | null)[],
): Record<GeneratorRole, RoleAnswer<Ballot>> {
  const [first, second, third, fourth] = GENERATOR_ROLES.map((_, index) => {
    const ballot = ballots[index];
    return ballot === null || ballot === undefined ? ABSTAINED : answer(aBallot(ballot));
  });
  if (!(first && second && third && fourth)) throw new Error("There are four generators");
  return { criteria_auditor: first, domain_expert: second, evidence_checker: third, user_advocate: fourth };
}

/** Four sure ballots for ALLOW in the default domain, nothing found against them, with what a case changes. */
export function aTallyInput(change: Partial<TallyInput> = {}): TallyInput {
  return {
    domain: "default",
    hasCriteria: true,
    ballots: ballotsOf([{}, {}, {}, {}]),
    critique: answer(aCritique()),
    synthesis: answer(aSynthesis()),
    checks: [],
    outputText: "The capital of France is Paris.",
    shown: { output: "The capital of France is Paris.", ballots: {} },
    orderTexts: ["Name the capital of France."],
    providerHasScore: true,
    ...{ released: null, limits: MONEY_LIMITS, hasSecondModel: false },
    ...change,
  };
}

/** Outcome of the tally for such a panel; throws if the tally fails. */
export function decided(change: Partial<TallyInput>): Extract<TallyOutcome, { kind: "decided" }> {
  const outcome = tally(aTallyInput(change));
  if (outcome.kind === "failed") throw new Error(`Failed for want of ${outcome.missing.join(", ")}`);
  return outcome;
}

/** Sure ballots with these scores. */
export const scores = (...given: number[]) => ballotsOf(given.map((score) => ({ score })));
