import type { RoleName, RuleName } from "../../verification/panel/types.ts";
import type { VerdictAnswer } from "../verification/verdict-schema.ts";

type Decision = NonNullable<VerdictAnswer["final_verdict"]>;
type SettlementStatus = NonNullable<VerdictAnswer["settlement"]>["status"];
type Cause = NonNullable<VerdictAnswer["rerun"]>["cause"];

/** What a decision means for whoever ordered the work. */
export function decisionWords(decision: Decision): string {
  switch (decision) {
    case "ALLOW":
      return "What was delivered is what was ordered.";
    case "HOLD":
      return "There is not enough to adjudicate, which is no rejection. Evidence brings one new run, or a reviewer decides.";
    case "REJECT":
      return "What was delivered is not what was ordered.";
  }
}

/** What a verdict without a decision waits for. */
export function waitingWords(status: "pending" | "processing"): string {
  switch (status) {
    case "pending":
      return "The output is in the queue, and a panel of models will take it up shortly.";
    case "processing":
      return "The panel is judging the output: four roles by themselves, then a critic, then a synthesis.";
  }
}

/** Where the decision stands on chain. */
export function settlementWords(status: SettlementStatus): string {
  switch (status) {
    case "unbound":
      return "The specification is not the job's, so nothing is ever signed for its escrow.";
    case "waiting":
      return "There is no decision to carry out yet, or it was not looked at.";
    case "waiting_for_submission":
      return "The delivery is not on chain yet.";
    case "waiting_for_finality":
      return "The delivery is on chain, in a block that is not final yet.";
    case "suspended":
      return "It cannot be settled now.";
    case "signed":
      return "The decision is signed, and on its way to the evaluator.";
    case "settled":
      return "The escrow has paid or refunded, in a final block.";
    case "held":
      return "The hold is on record, and the escrow is untouched.";
    case "expired_on_hold":
      return "The job ran out while it was held, so its client may take the money back.";
    case "refused":
      return "The decision is never carried out.";
    case "expired":
      return "The job or the signature ran out first.";
  }
}

/** Why a run was made, or a decision recorded. */
export function causeWords(cause: Cause): string {
  switch (cause) {
    case "submitted":
      return "the output was submitted";
    case "retried":
      return "it was asked for again";
    case "evidence":
      return "evidence was handed in";
    case "near_expiry":
      return "the job was about to run out";
    case "review":
      return "a reviewer decided";
  }
}

const ROLES: Readonly<Record<RoleName, string>> = {
  criteria_auditor: "Criteria auditor",
  domain_expert: "Domain expert",
  evidence_checker: "Evidence checker",
  user_advocate: "User advocate",
  critic: "Critic",
  synthesiser: "Synthesiser",
};

/** The name of a role. */
export function roleName(role: RoleName): string {
  return ROLES[role];
}

const ROLE_IDS = new RegExp(`\\b(${Object.keys(ROLES).join("|")})\\b`, "g");

/** A text of the panel with its roles as people call them. */
export function withRoleNames(text: string): string {
  const names: Readonly<Record<string, string>> = ROLES;
  return text.replace(ROLE_IDS, (id) => names[id] ?? id);
}

const RULES: Readonly<Record<RuleName, string>> = {
  uncheckable_without_criteria: "No criteria were registered, and the output claims what nobody can check.",
  no_majority: "The generators had no majority.",
  disagreement: "The generators disagreed too much.",
  fabrication_risk: "The critic found a risk that something is made up.",
  spec_gaming: "The critic found the letter of the order met and its purpose not.",
  challenged: "The critic challenged three generators with reasons that it quotes.",
  criterion_unmet: "A criterion is not met.",
  output_padded: "The output is padded.",
  output_copied_from_spec: "The output repeats the specification.",
  output_hidden_characters: "The output holds hidden characters.",
  rejection_asymmetry: "A rejection needs more confidence than there was.",
  zero_history: "A rejection of a provider without a score needs more confidence than there was.",
  synthesis_missing: "The synthesis is missing, so its texts come from the ballots.",
};

/** What a rule of the tally did, in a sentence; its name where it is one of another version. */
export function ruleWords(rule: string): string {
  const words: Readonly<Record<string, string>> = RULES;
  return Object.hasOwn(words, rule) ? (words[rule] ?? rule) : rule;
}
