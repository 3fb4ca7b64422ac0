import { keccak256, stringToHex } from "viem";
import { SCORING_INTERFACE } from "../../../../service/api/create-app.ts";
import { createInterfaceApp, type ServedParts } from "../../../../service/api/create-interface.ts";
import {
  createVerificationApp,
  VERIFICATION_INTERFACE,
} from "../../../../service/api/create-verification-app.ts";
import type { Services } from "../../../../service/api/services.ts";
import type { HealthReport } from "../../../../service/api/verification/check-health.ts";
import { openReceiptKeys } from "../../../../service/verification/verdicts/receipt.ts";
import type { StoredSpec } from "../../../../service/verification/verdicts/specs.ts";
import type { VerdictResult } from "../../../../service/verification/verdicts/verdict-result.ts";
import type { VerdictView } from "../../../../service/verification/verdicts/verdict-view.ts";
import { panelBudget } from "../../../support/panel-budget.ts";
import { forEachRole, VOTING } from "../../verification/panel/a-panel.ts";
import { fakeLedger, fakePorts, NOW } from "../fake-ports.ts";
import { storedKey } from "../routes/fake-key-ports.ts";

export const VERDICT_ID = "7c9e6679-7425-40de-944b-e07fc1f90ae7";
export const SPEC_ID = "5b1c6a0e-4a1f-4f0e-9b57-0d7a3a1de2c4";
export const CLIENT = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8";
export const PROVIDER = "0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc";
export const EVIDENCE = '{"final_verdict":"ALLOW","verdict_id":"7c9e6679-7425-40de-944b-e07fc1f90ae7"}';
const EVIDENCE_HASH = keccak256(stringToHex(EVIDENCE));
/** The owner of submissions by key-1 of the fake ledger. */
export const OWNER = "key:key-1";
const DECIDE_BY = new Date(NOW.getTime() + 4_200_000);
const RECEIPT_SEED = `0x${"07".repeat(32)}` as const;

/** A result that the panel allowed. */
export function verdictResult(changes: Partial<VerdictResult> = {}): VerdictResult {
  return {
    final_verdict: "ALLOW",
    final_score: 86,
    confidence: 0.88,
    mdi: 0.06,
    domain: "default",
    met_criteria: ["Ten rows."],
    unmet_criteria: [],
    key_objections: [],
    reasoning: "It has ten rows.",
    strongest_dissent: null,
    generator_majority: "ALLOW",
    critic_override_applied: false,
    zero_history_adjustment_applied: false,
    rejection_asymmetry_applied: false,
    latency_ms: 8_412,
    findings: [
      {
        role: "critic",
        model: "m",
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
      models: forEachRole("m"),
      thresholds: { domain: "default", confidence: 0.7 },
      rules_fired: [],
      voting: VOTING,
    },
    review: null,
    ...changes,
  };
}

/** A completed verdict of the fake key, which names no job. */
export function verdictView(changes: Partial<VerdictView> = {}): VerdictView {
  return {
    id: VERDICT_ID,
    status: "completed",
    progress: null,
    rerun: null,
    appeal: null,
    run: changes.runs?.length ?? 1,
    owner: OWNER,
    clientAddr: CLIENT,
    providerAddr: PROVIDER,
    specHash: `0x${"66".repeat(32)}`,
    outputHash: `0x${"77".repeat(32)}`,
    errorMessage: null,
    namedJob: null,
    runs: [
      { run: 1, cause: "submitted", finalVerdict: "ALLOW", evidenceHash: EVIDENCE_HASH, createdAt: NOW },
    ],
    result: verdictResult(),
    settlement: null,
    ...changes,
  };
}

/** A verdict that is on its way. */
export function pendingView(changes: Partial<VerdictView> = {}): VerdictView {
  return verdictView({ status: "pending", runs: [], result: null, ...changes });
}

const SPEC: StoredSpec = {
  id: SPEC_ID,
  clientAddr: CLIENT,
  providerAddr: null,
  specText: "Ten rows, please.",
  acceptanceCriteria: null,
  domain: "default",
  specHash: `0x${"66".repeat(32)}`,
  job: null,
  clientSignature: null,
  registeredBlock: null,
  createdAt: NOW,
};

export const WELL: HealthReport = {
  database: { status: "ok", detail: "answers" },
  queue: { status: "ok", detail: "0 waiting" },
  model: { status: "ok", detail: "answers" },
  chain: { status: "ok", detail: "block 7 is 3 s old" },
};

export const RECEIPT_KEYS = await openReceiptKeys(RECEIPT_SEED, [`0x${"08".repeat(32)}`]);

type Changes = Partial<ServedParts<Services>>;

/** Ports of both interfaces that know one completed verdict and take whatever is sent. */
export function bothPorts(changes: Changes = {}, keys = fakeLedger()): ServedParts<Services> {
  const { ports } = fakePorts({}, keys);
  return {
    ...ports,
    publicKeys: { keys: RECEIPT_KEYS.published },
    receiptKeys: RECEIPT_KEYS,
    specs: {
      scope: { chainId: 31_337, escrows: [] },
      limit: () => null,
      addressOf: () => null,
      budgets: { take: async () => null },
      chargedUnits: async () => 0,
      binding: async () => null,
      register: async () => ({ kind: "registered", specId: SPEC_ID, specHash: SPEC.specHash }),
    },
    outputs: {
      hasSpec: async (id) => id === SPEC_ID,
      spec: async (id) => (id === SPEC_ID ? SPEC : null),
      bind: async () => ({ kind: "unbound", reason: "it names no job" }),
      measure: () => null,
      readStake: async () => null,
      readDeliverable: async () => null,
      find: async () => null,
      awaitAccepted: async () => null,
      accept: async () => ({ kind: "noted", verdictId: VERDICT_ID, webhookSecret: null }),
      activate: async () => ({ verdictId: VERDICT_ID, status: "pending" }),
      withdraw: async () => undefined,
      budget: panelBudget(),
    },
    refuseUrl: async () => null,
    retryVerdict: async () => ({ kind: "queued", charge: null }),
    isOfJob: async () => false,
    panelBudget: panelBudget(),
    describeEvidenceOverflow: () => null,
    verdicts: {
      find: async (id) => (id === VERDICT_ID ? verdictView() : null),
      evidence: async (_id, run) =>
        run === null || run === 1 ? { run: 1, body: EVIDENCE, hash: EVIDENCE_HASH } : null,
      texts: async () => ({
        specText: "Ten rows, please.",
        acceptanceCriteria: null,
        outputText: "1 2 3 4 5 6 7 8 9 10",
        evidence: [{ text: "They are ten.", createdAt: NOW }],
      }),
    },
    verdictDeliveries: async () => [],
    acceptEvidence: async () => ({
      kind: "kept",
      textHash: `0x${"99".repeat(32)}`,
      count: 1,
      rerunAt: new Date(NOW.getTime() + 600_000),
    }),
    eraseTexts: async () => ({ kind: "requested", requestedAt: NOW, erasedAt: null }),
    keys: { ...ports.keys, find: async () => storedKey({ name: "Trust desk", scopes: ["review"] }) },
    appeals: {
      terms: { windowSeconds: 600, model: "other" },
      offer: async () => ({ kind: "open", appellant: "submitter", units: 500 }),
      note: async () => ({ kind: "noted" }),
      open: async () => ({ state: "open", decideBy: DECIDE_BY }),
      withdraw: async () => undefined,
      figures: async () => ({ open: 1, upheld: 5, overturned: 2, held: 1, failed: 3 }),
    },
    recordReview: async () => ({ kind: "recorded", run: 2, evidenceHash: EVIDENCE_HASH }),
    verificationHealth: async () => WELL,
    ...changes,
  };
}

/** The verification interface alone. */
export function fakeVerificationApp(changes: Changes = {}, keys = fakeLedger()) {
  return createVerificationApp(bothPorts(changes, keys));
}

/** Both interfaces on one port. */
export function fakeBothApp(changes: Changes = {}, keys = fakeLedger()) {
  return createInterfaceApp(bothPorts(changes, keys), [SCORING_INTERFACE, VERIFICATION_INTERFACE]);
}

/** A verdict in the place of the one that the ports know. */
export function withVerdict(view: VerdictView): Pick<Services, "verdicts"> {
  const { verdicts } = bothPorts();
  return { verdicts: { ...verdicts, find: async (id) => (id === view.id ? view : null) } };
}

/** A JSON request. */
export function posted(body: unknown, headers: Readonly<Record<string, string>> = {}): RequestInit {
  return {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  };
}
