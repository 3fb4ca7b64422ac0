import { expect, it } from "vitest";
import { buildDecision, type Decided } from "../../../../service/verification/verdicts/build-decision.ts";
import type { VerdictCase } from "../../../../service/verification/verdicts/verdict-cases.ts";
import { decided } from "./a-decision.ts";
import { CLIENT, PROVIDER } from "./verdict-world.ts";

/** A text no two places of which are alike. */
const textOf = (word: string) => Array.from({ length: 400 }, (_, index) => `${word}${index}`).join(" ");
const OUTPUT = textOf("output");
const SPEC = textOf("spec");
const EVIDENCE = textOf("evidence");
const HASH = `0x${"11".repeat(32)}` as const;

const verdictCase: VerdictCase = {
  specId: "s",
  specHash: HASH,
  outputHash: HASH,
  clientAddr: CLIENT,
  providerAddr: PROVIDER,
  submitterAddr: CLIENT,
  submittedBy: "client",
  domain: "content",
  job: null,
  appealed: null,
  evidenceHashes: [HASH],
  providerHasScore: false,
  texts: { specText: SPEC, acceptanceCriteria: null, outputText: OUTPUT, evidenceTexts: [EVIDENCE] },
};

const run = {
  verdictId: "v",
  run: 1,
  cause: "submitted",
  startedAt: new Date(0),
  evaluatedAt: new Date(1_000),
} as const;

const build = (changes: Partial<Decided>) =>
  buildDecision({ ...decided("HOLD"), ...changes }, { run, verdictCase }).result;

it("answers the findings that its evidence proves, with quotations of 200 characters at most", () => {
  const [finding] = decided("HOLD").findings;
  if (finding === undefined) throw new Error("a decision has findings");
  const quoting = {
    ...finding,
    criteria: [{ id: "c1", met: false, evidence: OUTPUT.slice(0, 400) }],
    objections: Array.from({ length: 60 }, (_, index) => `${index}: ${OUTPUT.slice(0, 800)}`),
  };
  const outcome = { ...decided("HOLD"), findings: [quoting] };
  const { result, evidence } = buildDecision(outcome, { run, verdictCase });
  expect(result.findings).toEqual(JSON.parse(evidence.body).findings);
  const texts = result.findings.flatMap(({ criteria, objections }) => [
    ...criteria.map((criterion) => criterion.evidence),
    ...objections,
  ]);
  expect(texts).toHaveLength(21);
  expect(Math.max(...texts.map(({ length }) => length))).toBeLessThanOrEqual(200);
});

it("copies nothing of output, specification and evidence that is longer than that into what the panel wrote", () => {
  const quote = (text: string) => `It reads “${text.slice(300, 700)}”, no more.`;
  const result = build({
    reasoning: [OUTPUT, SPEC, EVIDENCE].map(quote).join("\n\n"),
    strongestDissent: quote(OUTPUT),
    keyObjections: [quote(OUTPUT), "x".repeat(800)],
  });
  const left = "It reads “…”, no more.";
  expect(result).toMatchObject({
    reasoning: [left, left, left].join("\n\n"),
    strongest_dissent: left,
    key_objections: [left, `${"x".repeat(499)}…`],
  });
});

it("leaves what the panel wrote as it is where it quotes little", () => {
  const reasoning = `It reads “${OUTPUT.slice(300, 480)}”.\n\nThat is enough.`;
  expect(build({ reasoning, strongestDissent: null, keyObjections: ["Brief."] })).toMatchObject({
    reasoning,
    strongest_dissent: null,
    key_objections: ["Brief."],
  });
});
