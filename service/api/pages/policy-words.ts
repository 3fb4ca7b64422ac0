import { z } from "zod";
import type { RoutingAction } from "../../model/score/record.ts";
import { dayWords, routeWords } from "./page-words.ts";

export const policySchema = z.object({
  instant_grades: z.array(z.string()),
  escrow_grades: z.array(z.string()),
  reject_grades: z.array(z.string()),
  escrow_disabled: z.boolean(),
  allowlist: z.array(z.string()),
  confidence_overrides: z.record(z.string(), z.record(z.string(), z.string())),
  insufficient_action: z.enum(["instant_settle", "escrow", "reject"]),
  updated_at: z.string().nullable(),
});

/** A key's routing policy as the interface answers it. */
export type KeyPolicy = z.infer<typeof policySchema>;

const ACTIONS: readonly RoutingAction[] = ["instant_settle", "escrow", "reject"];

/** A routing policy, a sentence for each of its rules. */
export function policyWords(policy: KeyPolicy): readonly string[] {
  const { allowlist, confidence_overrides, insufficient_action } = policy;
  const overrides = Object.entries(confidence_overrides).flatMap(([grade, levels]) =>
    Object.entries(levels).map(
      ([level, action]) => `Grade ${grade} with ${level} confidence: ${doing(action, policy)}.`,
    ),
  );
  return [
    policy.updated_at === null
      ? "You have the default table."
      : `You set it on ${dayWords(policy.updated_at.slice(0, 10))}.`,
    ...graded(policy.instant_grades, "instant_settle", policy),
    ...graded(policy.escrow_grades, "escrow", policy),
    ...graded(policy.reject_grades, "reject", policy),
    `Not enough history: ${doing(insufficient_action, policy)}.`,
    ...overrides,
    ...(allowlist.length === 0
      ? []
      : [
          `${allowlist.length} named ${allowlist.length === 1 ? "wallet" : "wallets"}: ${routeWords("instant_settle").toLowerCase()}, whatever the score.`,
        ]),
  ];
}

function graded(grades: readonly string[], action: string, policy: KeyPolicy): readonly string[] {
  if (grades.length === 0) return [];
  return [`${grades.length === 1 ? "Grade" : "Grades"} ${grades.join(", ")}: ${doing(action, policy)}.`];
}

/** Without escrow, what would wait in it is rejected. */
function doing(action: string, { escrow_disabled }: KeyPolicy): string {
  const taken = action === "escrow" && escrow_disabled ? "reject" : action;
  const known = ACTIONS.find((one) => one === taken);
  return known === undefined ? taken : routeWords(known).toLowerCase();
}
