import type { KeyPolicy } from "./account-view.ts";
import { dayWords } from "./page-words.ts";

const ACTIONS: Readonly<Record<string, string>> = {
  instant_settle: "are paid at once",
  escrow: "wait in escrow",
  reject: "are rejected",
};

/** A routing policy, a sentence for each of its rules. */
export function policyWords(policy: KeyPolicy): readonly string[] {
  const { allowlist, confidence_overrides, insufficient_action } = policy;
  const overrides = Object.entries(confidence_overrides).flatMap(([grade, levels]) =>
    Object.entries(levels).map(
      ([level, action]) => `Grade ${grade} with ${level} confidence: wallets ${doing(action, policy)}.`,
    ),
  );
  return [
    policy.updated_at === null
      ? "You have the default table."
      : `You set it on ${dayWords(policy.updated_at.slice(0, 10))}.`,
    ...graded(policy.instant_grades, "instant_settle", policy),
    ...graded(policy.escrow_grades, "escrow", policy),
    ...graded(policy.reject_grades, "reject", policy),
    `Wallets without enough history ${doing(insufficient_action, policy)}.`,
    ...overrides,
    ...(allowlist.length === 0
      ? []
      : [
          `${allowlist.length} named ${allowlist.length === 1 ? "wallet is" : "wallets are"} paid at once whatever the score.`,
        ]),
  ];
}

function graded(grades: readonly string[], action: string, policy: KeyPolicy): readonly string[] {
  if (grades.length === 0) return [];
  return [
    `${grades.length === 1 ? "Grade" : "Grades"} ${grades.join(", ")}: wallets ${doing(action, policy)}.`,
  ];
}

/** Without escrow, what would wait in it is rejected. */
function doing(action: string, { escrow_disabled }: KeyPolicy): string {
  const taken = action === "escrow" && escrow_disabled ? "reject" : action;
  return ACTIONS[taken] ?? taken;
}
