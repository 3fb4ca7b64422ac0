import { expect, test } from "vitest";
import type { RoleName } from "../../../../service/verification/panel/types.ts";
import { reusableAnswers } from "../../../../service/verification/verdicts/role-calls.ts";
import { abstained, answered } from "./a-decision.ts";

const THREE = ["criteria_auditor", "domain_expert", "evidence_checker"] as const;
const ALL = [...THREE, "user_advocate"] as const;

test.each<[string, readonly RoleName[], readonly RoleName[], readonly RoleName[]]>([
  ["nobody's, where nobody answered", [], [], []],
  ["three generators', where the fourth abstained", THREE, ["user_advocate"], THREE],
  ["three generators', though the critic judged them", [...THREE, "critic"], ["user_advocate"], THREE],
  ["four generators', where the critic abstained", ALL, ["critic"], ALL],
  ["the critic's of four generators", [...ALL, "critic"], ["synthesiser"], [...ALL, "critic"]],
  ["everybody's", [...ALL, "critic", "synthesiser"], [], [...ALL, "critic", "synthesiser"]],
])("answers that need not be asked for again: %s", (_, whoAnswered, whoAbstained, reused) => {
  const records = [
    ...whoAbstained.map((role) => abstained(role)),
    ...whoAnswered.map((role) => answered(role, {})),
  ];
  expect(reusableAnswers(records).map(({ role }) => role)).toEqual(reused);
});
