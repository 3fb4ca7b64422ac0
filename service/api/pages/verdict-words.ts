import type { RoleName, RuleName } from "../../verification/panel/types.ts";
import type { VerdictAnswer } from "../verification/verdict-schema.ts";

/** Heading of a verdict's page. */
export function headingOf({ status, final_verdict }: VerdictAnswer): string {
  switch (status) {
    case "pending":
      return "Waiting for the panel";
    case "processing":
      return "Being judged";
    case "completed":
      return final_verdict ?? "Decided";
    case "failed":
      return "The panel could not decide";
  }
}

export const DECISIONS: Readonly<Record<NonNullable<VerdictAnswer["final_verdict"]>, string>> = {
  ALLOW: "The delivery matches the order.",
  HOLD: "Not enough evidence to decide. This is not a rejection. Submit evidence for a re-run, or wait for a reviewer.",
  REJECT: "The delivery does not match the order.",
};

export const WAITING: Readonly<Record<"pending" | "processing", string>> = {
  pending: "The output is in the queue of the panel.",
  processing:
    "The panel judges the output: four independent roles, then a critic and a synthesis where they can change the verdict.",
};

export const PROGRESS: Readonly<Record<NonNullable<VerdictAnswer["progress"]>[number]["status"], string>> = {
  waiting: "not asked yet",
  asked: "is judging",
  answered: "has answered",
  abstained: "gave no valid answer",
};

export const SETTLEMENTS: Readonly<Record<NonNullable<VerdictAnswer["settlement"]>["status"], string>> = {
  unbound: "The specification does not belong to the job, so no decision is signed for its escrow.",
  waiting: "There is no decision to settle yet, or it is not processed yet.",
  waiting_for_submission: "The delivery is not on chain yet.",
  waiting_for_finality: "The delivery is on chain, in a block that is not final yet.",
  appealable: "The decision is signed once the time to appeal is over.",
  appealed: "The decision is under appeal, so nothing is signed yet.",
  suspended: "It cannot be settled now.",
  signed: "The decision is signed and sent to the evaluator.",
  settled: "The escrow has paid or refunded, in a final block.",
  held: "The HOLD is recorded. The escrow is unchanged.",
  expired_on_hold: "The job expired on HOLD. Its client can withdraw the money.",
  refused: "The decision will not be settled.",
  expired: "The job or the signature expired first.",
};

export const APPEALS: Readonly<
  Record<Exclude<NonNullable<VerdictAnswer["appeal"]>["status"], "available">, string>
> = {
  not_appealed: "The decision was not appealed in time.",
  open: "A second panel, of another model, judges the output. Nothing is settled before its decision.",
  upheld: "The second panel decided the same.",
  overturned: "The second panel decided the opposite, which is valid. The price went back.",
  held: "The second panel decided HOLD, so the first decision is valid.",
  failed: "The second panel made no decision in time. The price went back, and the first decision is valid.",
};

export const CAUSES: Readonly<Record<NonNullable<VerdictAnswer["rerun"]>["cause"], string>> = {
  submitted: "the output was submitted",
  retried: "its submitter requested another run",
  evidence: "evidence was submitted",
  near_expiry: "the job was about to expire",
  appeal: "the decision was appealed",
  review: "a reviewer decided",
};

export const ROLES: Readonly<Record<RoleName, string>> = {
  criteria_auditor: "Criteria auditor",
  domain_expert: "Domain expert",
  evidence_checker: "Evidence checker",
  user_advocate: "User advocate",
  critic: "Critic",
  synthesiser: "Synthesiser",
};

const ROLE_IDS = new RegExp(`\\b(${Object.keys(ROLES).join("|")})\\b`, "g");

/** A text with the ids of roles replaced by their names. */
export function withRoleNames(text: string): string {
  const names: Readonly<Record<string, string>> = ROLES;
  return text.replace(ROLE_IDS, (id) => names[id] ?? id);
}

const RULES: Readonly<Record<RuleName, string>> = {
  uncheckable_without_criteria:
    "No criteria were registered, and the output makes claims that cannot be checked.",
  no_majority: "The generators had no majority.",
  disagreement: "The generators disagreed too much.",
  not_unanimous: "The job pays an amount that only four votes of four release.",
  correlated_votes: "The job pays an amount that the votes of one model do not release.",
  fabrication_risk: "The critic found a risk that something is made up.",
  spec_gaming: "The critic found the letter of the order met and its purpose not.",
  challenged: "The critic challenged three generators with reasons that it quotes.",
  criterion_unmet: "A criterion is not met.",
  output_padded: "The output is padded.",
  output_copied_from_spec: "The output repeats the specification.",
  output_hidden_characters: "The output holds hidden characters.",
  output_without_content: "The output introduces a result and has none.",
  output_misquotes_spec: "The output quotes the specification for what it does not say.",
  instructions_in_output: "The output has instructions for its judges, which a role quoted.",
  rejection_asymmetry: "A rejection needs more confidence than there was.",
  zero_history: "A rejection of a provider without a score needs more confidence than there was.",
  synthesis_missing: "The synthesis is missing, so its texts come from the ballots.",
};

/** The effect of a rule of the tally in one sentence; its name if the version is unknown. */
export function ruleWords(rule: string): string {
  const words: Readonly<Record<string, string>> = RULES;
  return Object.hasOwn(words, rule) ? (words[rule] ?? rule) : rule;
}
