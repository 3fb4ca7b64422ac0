import fc from "fast-check";
import { type Hex, keccak256, toBytes } from "viem";
import { expect, it } from "vitest";
import {
  buildEvidence,
  type EvidenceParts,
} from "../../../../service/verification/panel/evidence-document.ts";
import { ROLE_NAMES, type RoleFinding } from "../../../../service/verification/panel/types.ts";
import { MODELS, VOTING } from "./a-panel.ts";

const hash: Hex = `0x${"11".repeat(32)}`;
const escrow = "0x00000000000000000000000000000000000a11ce";

function aFinding(change: Partial<RoleFinding> = {}): RoleFinding {
  return {
    role: "domain_expert",
    model: "some-model",
    verdict: "ALLOW",
    score: 80,
    confidence: 0.9,
    criteria: [{ id: "c1", met: true, evidence: "“Paris”" }],
    objections: ["Brief."],
    abstained: null,
    ...change,
  };
}

function theParts(change: Partial<EvidenceParts> = {}): EvidenceParts {
  return {
    verdictId: "6f2c0f6e-1d7e-4c52-9a55-3f1a4b6f0a01",
    run: 1,
    cause: "submitted",
    job: { chainId: 31_337, escrow, jobId: 255n },
    specHash: hash,
    outputHash: hash,
    evidenceHashes: [hash],
    decision: "ALLOW",
    score: 80,
    confidence: 0.9,
    mdi: 0.1,
    methodology: {
      panelVersion: "panel",
      promptHash: hash,
      models: MODELS,
      thresholds: { domain: "default", confidence: 0.7 },
      voting: VOTING,
    },
    rulesFired: [],
    appealed: null,
    checks: [],
    findings: [aFinding()],
    fabricationRisk: "none",
    review: null,
    evaluatedAt: "2026-11-20T12:00:00.000Z",
    ...change,
  };
}

it("holds what the decision follows from, and its hash is that of its bytes", () => {
  const parts = theParts();
  const { body, hash: evidenceHash } = buildEvidence(parts);
  expect(evidenceHash).toBe(keccak256(toBytes(body)));
  const absent = (id: string) => ({ type: "model", id, verdict: null, confidence: null });
  expect(JSON.parse(body)).toEqual({
    schema: "agent-health.verdict-evidence.v1",
    verdict_id: parts.verdictId,
    run: 1,
    cause: "submitted",
    chain_id: 31_337,
    escrow: "0x00000000000000000000000000000000000A11cE",
    erc8183_job_id: "0xff",
    job_id_bytes32: `0x${"00".repeat(31)}ff`,
    spec_hash: hash,
    output_hash: hash,
    evidence_hashes: [hash],
    final_verdict: "ALLOW",
    final_score: 80,
    confidence: 0.9,
    mdi: 0.1,
    panel_version: "panel",
    prompt_hash: hash,
    models: parts.methodology.models,
    thresholds: { domain: "default", confidence: 0.7 },
    voting: parts.methodology.voting,
    rules_fired: [],
    checks: [],
    findings: [aFinding()],
    fabrication_risk: "none",
    assessors: [
      absent("criteria_auditor"),
      { type: "model", id: "domain_expert", verdict: "ALLOW", confidence: 0.9 },
      ...["evidence_checker", "user_advocate", "critic", "synthesiser"].map(absent),
    ],
    reviewed_by: null,
    review_reason: null,
    evaluated_at: "2026-11-20T12:00:00.000Z",
  });
});

it("names no job for a verdict without a job", () => {
  const { body } = buildEvidence(theParts({ job: null }));
  const none = { chain_id: null, escrow: null, erc8183_job_id: null, job_id_bytes32: null };
  expect(JSON.parse(body)).toMatchObject(none);
});

it("names the reviewer and the reason", () => {
  const review = { reviewedBy: "key:ops", reason: "Seen by a person." };
  const { body } = buildEvidence(theParts({ review }));
  expect(JSON.parse(body)).toMatchObject({ reviewed_by: "key:ops", review_reason: "Seen by a person." });
});

it("quotes at most 200 characters of any text, whatever a role answered", () => {
  const text = "A secret text of the client. ".repeat(10_000);
  const findings = ROLE_NAMES.map((role) =>
    aFinding({
      role,
      model: text,
      criteria: [{ id: "c1", met: false, evidence: text }],
      objections: Array.from({ length: 500 }, () => text),
      abstained: text,
    }),
  );
  const { body } = buildEvidence(theParts({ findings }));
  expect(body.length).toBeLessThan(40_000);
  const strings = [...body.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, string]) => string ?? "");
  expect(Math.max(...strings.map(({ length }) => length))).toBeLessThanOrEqual(200);
});

it("is one document for one decision, whatever order its members were given in", () => {
  const parts = theParts();
  const reversed = Object.fromEntries(Object.entries(parts).reverse());
  expect(buildEvidence({ ...parts, ...reversed })).toEqual(buildEvidence(parts));
});

it("survives any text: halves of pairs, control characters, quotes", () => {
  const text = fc.oneof(
    fc.string({
      unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
      maxLength: 300,
    }),
    fc.string({ unit: "binary", maxLength: 300 }),
  );
  fc.assert(
    fc.property(text, (given) => {
      const findings = [
        aFinding({ objections: [given], criteria: [{ id: "c1", met: null, evidence: given }] }),
      ];
      const { body, hash: evidenceHash } = buildEvidence(theParts({ findings, cause: given }));
      expect(body.isWellFormed()).toBe(true);
      expect(evidenceHash).toBe(keccak256(new TextEncoder().encode(body)));
      const { findings: read } = JSON.parse(body);
      expect(read[0].objections[0].length).toBeLessThanOrEqual(200);
      expect(read[0].objections[0]).not.toMatch(/[\p{Cc}\u200b\u202e]/u);
    }),
    { numRuns: 1_000 },
  );
});
