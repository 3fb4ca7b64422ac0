import { getAddress, numberToHex } from "viem";
import { buildEvidence, type EvidenceParts } from "../../service/verification/panel/evidence-document.ts";
import { canonicalJson, hashSpec, hashText } from "../../service/verification/panel/hashes.ts";
import { GENERATOR_ROLES, type RoleFinding } from "../../service/verification/panel/types.ts";

const client = getAddress("0x00000000000000000000000000000000000a11ce");
const provider = getAddress("0x0000000000000000000000000000000000000b0b");
const escrow = getAddress("0x00000000000000000000000000000000000e5c40");

const texts = [
  { name: "one letter", text: "a" },
  { name: "beyond ASCII", text: "Saône, 河, 🌊" },
  { name: "line breaks and a tab", text: "a\r\nb\n\tc" },
];

type Spec = Parameters<typeof hashSpec>[0];

const specs: readonly { readonly name: string; readonly spec: Spec }[] = [
  { name: "the least that is accepted", spec: aSpec({ specText: "a" }) },
  {
    name: "every member",
    spec: aSpec({ providerAddr: provider, acceptanceCriteria: "- three\n- in English", domain: "content" }),
  },
  { name: "empty criteria", spec: aSpec({ acceptanceCriteria: "" }) },
  { name: "signs that JSON escapes", spec: aSpec({ specText: 'A "quote", a \\, a\u0001 and a\u2028.' }) },
  { name: "beyond ASCII", spec: aSpec({ specText: "Saône, 河, 🌊" }) },
];

const evidence: readonly { readonly name: string; readonly parts: EvidenceParts }[] = [
  { name: "an approval of a bound job", parts: aDecision({}) },
  { name: "a verdict that is bound to no job", parts: aDecision({ job: null, decision: "HOLD" }) },
  {
    name: "a review",
    parts: aDecision({
      run: 2,
      cause: "review",
      decision: "REJECT",
      review: { reviewedBy: "ops@example", reason: "The table is missing." },
    }),
  },
  {
    name: "the greatest job id",
    parts: aDecision({ job: { chainId: 31_337, escrow, jobId: 2n ** 256n - 1n } }),
  },
];

/** Texts, specifications and evidence with the bytes that service, contracts and third parties must hash alike. */
export function verificationHashes(): object {
  return {
    texts: texts.map(({ name, text }) => ({ name, text, hash: hashText(text) })),
    specs: specs.map(({ name, spec }) => ({ name, body: specBody(spec), hash: hashSpec(spec) })),
    evidence: evidence.map(({ name, parts }) => ({ name, ...buildEvidence(parts) })),
  };
}

function specBody(spec: Spec): string {
  return canonicalJson({
    client_addr: spec.clientAddr,
    provider_addr: spec.providerAddr,
    spec_text: spec.specText,
    acceptance_criteria: spec.acceptanceCriteria,
    domain: spec.domain,
  });
}

function aSpec(change: Partial<Spec>): Spec {
  const given = { specText: "Name three French cities.", acceptanceCriteria: null, domain: "default" };
  return { clientAddr: client, providerAddr: null, ...given, ...change };
}

function aDecision(change: Partial<EvidenceParts>): EvidenceParts {
  const scripted = "scripted";
  return {
    verdictId: "6f2c0f6e-1d7e-4c52-9a55-3f1a4b6f0a01",
    run: 1,
    cause: "submitted",
    job: { chainId: 31_337, escrow, jobId: 7n },
    specHash: hashSpec(aSpec({})),
    outputHash: hashText("Lyon, Nantes, Rouen."),
    evidenceHashes: [],
    decision: "ALLOW",
    score: 81,
    confidence: 0.88,
    mdi: 0.1479,
    methodology: {
      panelVersion: "panel-2026.0",
      promptHash: numberToHex(7, { size: 32 }),
      models: {
        criteria_auditor: scripted,
        domain_expert: scripted,
        evidence_checker: scripted,
        user_advocate: scripted,
        critic: scripted,
        synthesiser: scripted,
      },
      thresholds: { domain: "default", confidence: 0.7 },
      voting: null,
    },
    rulesFired: [],
    appealed: null,
    checks: [],
    findings: GENERATOR_ROLES.map(aFinding),
    fabricationRisk: "low",
    review: null,
    evaluatedAt: "2026-11-20T12:00:00.000Z",
    ...change,
  };
}

function aFinding(role: RoleFinding["role"], index: number): RoleFinding {
  const criteria = [{ id: "c1", met: true, evidence: "“Lyon, Nantes, Rouen”" }];
  const vote = { verdict: "ALLOW", score: 80 + index, confidence: 0.85 + index / 50 } as const;
  return { role, model: "scripted", ...vote, criteria, objections: ["Brief."], abstained: null };
}
