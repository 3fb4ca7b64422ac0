import { z } from "zod";
import { hashText } from "../../service/verification/panel/hashes.ts";
import { GENERATOR_ROLES } from "../../service/verification/panel/types.ts";
import { parseEntries, parseLines, type Rows } from "./read-lines.ts";
import { FORMAT, type RecordedCase } from "./recorded-case.ts";

/** Which of a judge's two answers is its ballot: the pair as stored, the pair swapped, both if they agree, or in turns by file. */
export const ORDERS = ["both", "stored", "swapped", "alternate"] as const;
export const IMPORTS = ["llmbar", "judgebench"] as const;

/** A file of one judge. */
export type JudgeFile = { readonly name: string; readonly text: string };

/** The better output of a pair by one judge: the first or the second as stored, `tie`, or null without a readable answer. */
type Preference = "first" | "second" | "tie" | null;
type JudgedPair = {
  readonly id: string;
  /** The better output by the set's label. */
  readonly truth: "first" | "second";
  readonly stored: Preference;
  readonly swapped: Preference;
};

const MAX_LINE_BYTES = 2 ** 20;
const LLMBAR_WINNERS = { "1": "first", "2": "second" } as const;

const game = z.object({ winner: z.enum(["1", "2"]).nullable() });

/** An entry of LLMBar's `result.json`: the last of its results holds both orders, each winner in stored numbering. */
const llmbarEntry = z
  .object({
    input: z.string(),
    output_1: z.string(),
    output_2: z.string(),
    label: z.literal([1, 2]),
    results: z.array(z.unknown()).min(1).max(10),
  })
  .transform(({ input, output_1, output_2, label, results }, context): JudgedPair => {
    const last = z.object({ "swap = False": game, "swap = True": game }).safeParse(results.at(-1));
    if (!last.success) {
      const message = 'expected "swap = False" and "swap = True" with winners in the last one';
      context.addIssue({ code: "custom", path: ["results"], message });
      return z.NEVER;
    }
    const preferenceOf = ({ winner }: z.infer<typeof game>) => winner && LLMBAR_WINNERS[winner];
    return {
      id: `llmbar-${hashText(JSON.stringify([input, output_1, output_2])).slice(2, 18)}`,
      truth: label === 1 ? "first" : "second",
      stored: preferenceOf(last.data["swap = False"]),
      swapped: preferenceOf(last.data["swap = True"]),
    };
  });

const judgment = z.object({ decision: z.string().max(100).nullable() }).nullable();

/** A line of JudgeBench's outputs: the second judgment is of the swapped pair, in swapped letters; it may be absent. */
const judgebenchLine = z
  .object({
    pair_id: z.string().regex(/^[\w-]{1,100}$/, "expected up to 100 letters, digits and dashes"),
    label: z.enum(["A>B", "B>A"]),
    judgments: z.array(judgment).min(1).max(2),
  })
  .transform(({ pair_id, label, judgments: [stored, swapped] }): JudgedPair => {
    const other = preferenceIn(swapped?.decision);
    return {
      id: `judgebench-${pair_id}`,
      truth: label === "A>B" ? "first" : "second",
      stored: preferenceIn(stored?.decision),
      swapped: other === "first" ? "second" : other === "second" ? "first" : other,
    };
  });

function preferenceIn(decision: string | null | undefined): Preference {
  switch (decision) {
    case "A>B":
      return "first";
    case "B>A":
      return "second";
    case "A=B":
      return "tie";
    default:
      return null;
  }
}

/**
 * Recorded cases from pairwise judgments, one file for each of three or four judges. A pair is one case: "is the first output
 * acceptable?", expected ALLOW if the label prefers it and REJECT if not. A judge that prefers the first casts a ballot of score 90, for the
 * second of 10, for neither, or not the same in both orders, of 50. No readable answer is an abstention. Confidence is 1, as none was asked
 * for, and the critic finds nothing: the votes alone decide.
 */
export function importPairs(
  files: readonly JudgeFile[],
  form: {
    readonly kind: (typeof IMPORTS)[number];
    readonly order: (typeof ORDERS)[number];
    readonly hasSecondModel: boolean;
  },
): Rows<RecordedCase> {
  if (files.length < 3 || files.length > GENERATOR_ROLES.length) {
    throw new Error(`${files.length} files of judgments, expected 3 or 4: one for each ballot`);
  }
  const judges = files.map((file, index) => {
    const { rows, faults } = readJudge(file, form.kind);
    const ballots = rows.map((pair) => ({ ...pair, preference: preferenceBy(pair, form.order, index) }));
    return { name: judgeName(file.name), faults, pairs: new Map(ballots.map((pair) => [pair.id, pair])) };
  });
  const truths = Map.groupBy(
    judges.flatMap(({ pairs }) => [...pairs.values()]),
    ({ id }) => id,
  );
  const labels = [...truths].map(([id, pairs]) => ({
    id,
    truths: [...new Set(pairs.map(({ truth }) => truth))],
  }));
  const source = `import of ${form.kind}, order ${form.order}`;
  const rows = labels.flatMap(({ id, truths: [truth, other] }): RecordedCase[] => {
    if (truth === undefined || other !== undefined) return [];
    const ballotOf = (index: number) => ballotFor(judges[index]?.pairs.get(id)?.preference ?? null);
    const [criteria_auditor, domain_expert] = [ballotOf(0), ballotOf(1)];
    const [evidence_checker, user_advocate] = [ballotOf(2), ballotOf(3)];
    const modelOf = (index: number) => judges[index]?.name ?? null;
    const row: RecordedCase = {
      format: FORMAT,
      id,
      source,
      domain: "default",
      expected: [truth === "first" ? "ALLOW" : "REJECT"],
      criteria: 0,
      provider_has_score: true,
      checks: [],
      released_usd: null,
      second_model: form.hasSecondModel,
      ballots: { criteria_auditor, domain_expert, evidence_checker, user_advocate },
      critique: { confidence: 1, fabrication_risk: "none", spec_gaming: false, challenged: [] },
      synthesis: { unmet: [] },
      models: {
        criteria_auditor: modelOf(0),
        domain_expert: modelOf(1),
        evidence_checker: modelOf(2),
        user_advocate: modelOf(3),
        critic: null,
        synthesiser: null,
      },
      prompt_hash: null,
      panel_version: null,
      verdict: null,
    };
    return [row];
  });
  const split = labels
    .filter(({ truths: { length } }) => length > 1)
    .map(({ id }) => `${id}: its labels differ`);
  return { rows, faults: [...judges.flatMap(({ faults }) => faults), ...split] };
}

function readJudge({ name, text }: JudgeFile, kind: (typeof IMPORTS)[number]): Rows<JudgedPair> {
  return kind === "llmbar"
    ? parseEntries(text, { name, schema: llmbarEntry })
    : parseLines(text, { name, schema: judgebenchLine, maxLineBytes: MAX_LINE_BYTES });
}

function preferenceBy(
  { stored, swapped }: JudgedPair,
  order: (typeof ORDERS)[number],
  file: number,
): Preference {
  switch (order) {
    case "stored":
      return stored;
    case "swapped":
      return swapped;
    case "alternate":
      return file % 2 === 0 ? stored : swapped;
    case "both":
      if (stored === null || swapped === null) return null;
      return stored === swapped ? stored : "tie";
  }
}

const SCORES = { first: 90, second: 10, tie: 50 } as const;

function ballotFor(preference: Preference): RecordedCase["ballots"]["user_advocate"] {
  if (preference === null) return null;
  return {
    score: SCORES[preference],
    confidence: 1,
    unmet: [],
    uncheckable_claims: 0,
    instructions_shown: 0,
  };
}

/** The end of a path, where both sets name model and prompt style. */
function judgeName(path: string): string {
  const parts = path.replace(/\/result\.json$/, "").replace(/\.jsonl?$/, "");
  return parts.replace(/\p{C}/gu, "").slice(-100);
}
