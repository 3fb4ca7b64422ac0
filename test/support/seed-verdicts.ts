import { randomUUID } from "node:crypto";
import { keccak256, stringToHex } from "viem";
import type { Database } from "../../service/db/database.ts";
import { jobSpec, type VerdictStatus, verdict, verdictRun } from "../../service/db/tables/verdict.ts";
import type { VerdictResult } from "../../service/verification/verdicts/verdict-result.ts";

const CLIENT = `0x${"c1".repeat(20)}` as const;
const PROVIDER = `0x${"c2".repeat(20)}` as const;
const FAR = new Date("2100-01-01T00:00:00.000Z");
const MODEL = "a-model-of-some-maker";

const ALLOWED: VerdictResult = {
  final_verdict: "ALLOW",
  final_score: 86,
  confidence: 0.88,
  mdi: 0.06,
  domain: "default",
  met_criteria: ["Every row names its source.", "The table has twelve rows, one for each month of the year."],
  unmet_criteria: [],
  key_objections: ["Two of the sources are older than a year."],
  reasoning:
    "The table answers what was asked, and each row names where it is from. The sums agree with the rows.",
  strongest_dissent: "Two of the sources are older than a year, which the order does not rule out.",
  generator_majority: "ALLOW",
  critic_override_applied: false,
  zero_history_adjustment_applied: false,
  rejection_asymmetry_applied: false,
  latency_ms: 8_412,
  findings: [
    {
      role: "criteria_auditor",
      model: MODEL,
      verdict: "ALLOW",
      score: 88,
      confidence: 0.9,
      criteria: [
        { id: "c1", met: true, evidence: "All 12 rows carry a source." },
        { id: "c2", met: null, evidence: "" },
      ],
      objections: ["The third row could be shorter."],
      abstained: null,
    },
    {
      role: "critic",
      model: MODEL,
      verdict: null,
      score: null,
      confidence: 0.6,
      criteria: [],
      objections: [],
      abstained: null,
    },
  ],
  methodology: {
    panel_version: "panel-2026.1",
    prompt_hash: `0x${"55".repeat(32)}`,
    models: { criteria_auditor: MODEL, critic: MODEL },
    thresholds: { domain: "default", confidence: 0.7 },
    rules_fired: [],
  },
  review: null,
};

/** Text of a hostile model or client that tries to run code in a reader's browser. */
const HOSTILE = `<script>window.hacked = true</script><img src="https://elsewhere.example/x.png" onerror="window.hacked = true">\u202eevil\u202c ${"W".repeat(3_000)}`;

const HELD: VerdictResult = {
  ...ALLOWED,
  final_verdict: "HOLD",
  final_score: 55,
  confidence: 0.5,
  met_criteria: [HOSTILE],
  unmet_criteria: [HOSTILE],
  key_objections: [HOSTILE],
  reasoning: HOSTILE,
  strongest_dissent: HOSTILE,
  methodology: { ...ALLOWED.methodology, rules_fired: ["no_majority", "disagreement"] },
};

/** Verdicts in each of their states, as rows; the held one is full of what strangers wrote. Answers their ids. */
export async function seedVerdicts(db: Database) {
  const specId = randomUUID();
  await db.insert(jobSpec).values({
    id: specId,
    clientAddr: CLIENT,
    specText: "Twelve rows.",
    domain: "default",
    specHash: `0x${"66".repeat(32)}`,
    createdAt: new Date(),
  });
  const seed = (state: Seed) => seedVerdict(db, specId, state);
  return {
    allowed: await seed({ status: "completed", result: ALLOWED }),
    held: await seed({ status: "completed", result: HELD }),
    pending: await seed({ status: "pending" }),
    failed: await seed({
      status: "failed",
      errorMessage: "The panel gave too few answers: domain_expert, evidence_checker and critic abstained.",
    }),
  };
}

type Seed = {
  readonly status: VerdictStatus;
  readonly result?: VerdictResult;
  readonly errorMessage?: string;
};

async function seedVerdict(
  db: Database,
  specId: string,
  { status, result, errorMessage }: Seed,
): Promise<string> {
  const id = randomUUID();
  const outputHash = keccak256(stringToHex(id));
  const now = new Date();
  await db.insert(verdict).values({
    id,
    specId,
    slot: `spec:${specId}:${outputHash}`,
    outputHash,
    submittedBy: "client",
    submitterAddr: CLIENT,
    providerAddr: PROVIDER,
    owner: `wallet:${CLIENT}`,
    units: 500,
    status,
    // No worker takes it up.
    notBefore: FAR,
    cause: "submitted",
    runs: result === undefined ? 0 : 1,
    finalVerdict: result?.final_verdict ?? null,
    errorMessage: errorMessage ?? null,
    createdAt: now,
    acceptedAt: now,
    updatedAt: now,
  });
  if (result !== undefined) {
    const evidence = JSON.stringify({ verdict_id: id });
    await db.insert(verdictRun).values({
      verdictId: id,
      run: 1,
      cause: "submitted",
      finalVerdict: result.final_verdict,
      result,
      evidence,
      evidenceHash: keccak256(stringToHex(evidence)),
      createdAt: now,
    });
  }
  return id;
}
