import { isDeepStrictEqual } from "node:util";
import { readQuestion } from "../../devnet/scripted-model/read-question.ts";
import { checkOutput } from "../../service/verification/panel/check-output.ts";
import { splitCriteria } from "../../service/verification/panel/criteria.ts";
import { type Block, blockOf } from "../../service/verification/panel/fence.ts";
import { caseBlocks, userMessage } from "../../service/verification/panel/prompts.ts";
import type { OutputCheck } from "../../service/verification/panel/types.ts";
import type { NamedCase } from "./attack-texts.ts";
import { type Share, shareOf } from "./interval.ts";

/** Result of fences and checks for one text. */
export type TextRow = {
  readonly name: string;
  /** True if every text of the case stays inside its fence, read by a lenient reader of fences. */
  readonly is_fenced: boolean;
  readonly checks: readonly OutputCheck["name"][];
};

export type AttackMeasures = {
  /** Attacks that stay inside their fence, and attacks that a check of code finds. */
  readonly fenced: Share;
  readonly found: Share;
  /** Benign outputs with a finding. */
  readonly falseAlarms: Share;
};

/** Puts texts into fences and through the checks. */
export function measureTexts(cases: readonly NamedCase[]): readonly TextRow[] {
  return cases.map(({ name, panelCase, marker }) => {
    const criteria = splitCriteria(panelCase.acceptanceCriteria);
    const blocks = caseBlocks(panelCase, criteria);
    return {
      name,
      is_fenced: staysInside(userMessage({ role: ROLE, blocks }, marker), { blocks, marker }),
      checks: checkOutput(panelCase, criteria).map((check) => check.name),
    };
  });
}

const ROLE = "domain_expert";

/** True if a lenient reader of fences finds these blocks in a message, and outside of them what a message of empty blocks has. */
export function staysInside(
  message: string,
  { blocks, marker }: { blocks: readonly Block[]; marker: string },
): boolean {
  const read = (content: string) => {
    const system = { role: "system", content: `Role: ${ROLE}\nFence: ${marker}` };
    const question = readQuestion([system, { role: "user", content }]);
    return { labels: question?.blocks.map(({ label }) => label), outside: question?.outside };
  };
  const empty = blocks.map(({ label }) => blockOf(label, ""));
  return isDeepStrictEqual(read(message), read(userMessage({ role: ROLE, blocks: empty }, marker)));
}

export function measureAttacks(attacks: readonly TextRow[], benign: readonly TextRow[]): AttackMeasures {
  return {
    fenced: shareOf(attacks, ({ is_fenced }) => is_fenced),
    found: shareOf(attacks, ({ checks }) => checks.length > 0),
    falseAlarms: shareOf(benign, ({ checks }) => checks.length > 0),
  };
}
