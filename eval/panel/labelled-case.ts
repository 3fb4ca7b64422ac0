import { readdirSync, readFileSync } from "node:fs";
import { z } from "zod";
import type { PanelCase, ReleasedMoney } from "../../service/verification/panel/types.ts";
import { jsonOf } from "./read-lines.ts";

const CASES_FOLDER = new URL("./cases/", import.meta.url);
/** As POST /v1/outputs and POST /v1/specs take them. */
const MAX_TEXT = 200_000;
const MAX_EVIDENCE = 50_000;

const text = z.string().min(1).max(MAX_TEXT);

/** A name that a terminal can show in a table. */
export const shownName = z.string().regex(/^[^\p{C}]{1,200}$/u, "expected 1 to 200 printable characters");

/** Correct verdicts, the best first. */
export const expectedVerdicts = z
  .array(z.enum(["ALLOW", "HOLD", "REJECT"]))
  .min(1)
  .max(3);

/** Worth of the job that an ALLOW pays; null without a job, "unknown" without a price. */
export const releasedUsd = z
  .union([z.number().min(0).max(1e9), z.literal("unknown")])
  .nullable()
  .default(null);

export function releasedMoneyOf({
  released_usd: usd,
}: {
  readonly released_usd: z.infer<typeof releasedUsd>;
}): ReleasedMoney {
  return typeof usd === "number" ? BigInt(Math.ceil(usd * 1_000_000)) : usd;
}

const labelledCase = z.strictObject({
  id: shownName,
  domain: shownName,
  /** Topics of the case, for readers only. */
  tags: z.array(z.string()).default([]),
  spec_text: text,
  acceptance_criteria: text.nullable().default(null),
  output_text: text,
  evidence_texts: z.array(z.string().min(1).max(MAX_EVIDENCE)).max(3).default([]),
  provider_has_score: z.boolean().default(true),
  released_usd: releasedUsd,
  expected: expectedVerdicts,
});

const caseList = z.array(labelledCase).min(1);

/** A case with its correct verdicts. */
export type LabelledCase = z.infer<typeof labelledCase>;

/** Reads the cases of this repository, in the order of files and cases. */
export function ownCases(): readonly LabelledCase[] {
  const files = readdirSync(CASES_FOLDER).sort();
  return files.flatMap((file) => readCases(new URL(file, CASES_FOLDER).pathname));
}

/** Reads cases from a file. Throws with the file's name and every fault. */
export function readCases(file: string): readonly LabelledCase[] {
  return parseCases(readFileSync(file, "utf8"), file);
}

/** Parses cases from JSON. Throws with the given name and every fault. */
export function parseCases(json: string, name: string): readonly LabelledCase[] {
  const parsed = caseList.safeParse(jsonOf(json, name));
  if (!parsed.success) throw new Error(`${name} is no list of cases:\n${z.prettifyError(parsed.error)}`);
  const ids = parsed.data.map(({ id }) => id);
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice !== undefined) throw new Error(`${name} has the id "${twice}" twice`);
  return parsed.data;
}

/** The panel's input of a case, without its label. */
export function panelCaseOf(labelled: LabelledCase): PanelCase {
  return {
    specText: labelled.spec_text,
    acceptanceCriteria: labelled.acceptance_criteria,
    domain: labelled.domain,
    outputText: labelled.output_text,
    evidenceTexts: labelled.evidence_texts,
    providerHasScore: labelled.provider_has_score,
    released: releasedMoneyOf(labelled),
  };
}
