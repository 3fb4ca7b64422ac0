import { describe, expect, it } from "vitest";
import { verdictSchema } from "../../../../service/api/verification/verdict-schema.ts";
import type { SignedVerdict } from "../../../../service/verification/escrow/settlements.ts";
import type { VerdictView } from "../../../../service/verification/verdicts/verdict-view.ts";
import { bodyOf, NOW } from "../fake-ports.ts";
import {
  fakeVerificationApp,
  pendingView,
  VERDICT_ID,
  verdictResult,
  verdictView,
  withVerdict,
} from "./fake-verification-ports.ts";

type Answer = Record<string, unknown> & {
  readonly settlement: Record<string, unknown> | null;
  readonly methodology: Record<string, unknown> | null;
};

/** Members of the specification's verdict that are null until it is completed. */
const RESULT_MEMBERS = [
  "final_verdict",
  "final_score",
  "confidence",
  "mdi",
  "on_chain_action",
  "domain",
  "met_criteria",
  "unmet_criteria",
  "key_objections",
  "reasoning",
  "strongest_dissent",
  "generator_majority",
  "critic_override_applied",
  "zero_history_adjustment_applied",
  "rejection_asymmetry_applied",
  "latency_ms",
  "evaluated_at",
];

const PATH = `/v1/verdicts/${VERDICT_ID}`;
const ask = (view: VerdictView, headers: Record<string, string> = {}) =>
  fakeVerificationApp(withVerdict(view)).request(PATH, { headers });

async function answerOf(view: VerdictView): Promise<Answer> {
  const answer = await bodyOf<Answer>(await ask(view));
  expect(verdictSchema.parse(answer)).toEqual(answer);
  return answer;
}

describe("GET /v1/verdicts/{verdict_id}", () => {
  it("has every member of the specification's verdict, whatever its status", async () => {
    const members = ["verdict_id", "status", ...RESULT_MEMBERS, "error_message"];
    for (const view of [pendingView(), verdictView()])
      expect(Object.keys(await answerOf(view))).toEqual(expect.arrayContaining(members));
  });

  it.each(["pending", "processing"] as const)("has no result while it is %s", async (status) => {
    const answer = await answerOf(pendingView({ status }));
    expect(answer).toMatchObject({ verdict_id: VERDICT_ID, status, error_message: null });
    expect(RESULT_MEMBERS.filter((name) => answer[name] !== null)).toEqual([]);
    expect(answer).toMatchObject({ findings: null, methodology: null, evidence_hash: null });
  });

  it("says why it failed, and nothing else", async () => {
    const errorMessage = "The panel gave too few answers.";
    const answer = await answerOf(pendingView({ status: "failed", errorMessage }));
    expect(answer).toMatchObject({ status: "failed", error_message: errorMessage, final_verdict: null });
  });

  it.each([
    ["ALLOW", "complete"],
    ["HOLD", "hold_pending_review"],
    ["REJECT", "reject"],
  ] as const)("maps %s to %s on chain", async (final_verdict, action) => {
    const answer = await answerOf(verdictView({ result: verdictResult({ final_verdict }) }));
    expect(answer).toMatchObject({ final_verdict, on_chain_action: action });
  });

  it("lists every decision so far, and who reviewed the newest", async () => {
    const run = { cause: "submitted", finalVerdict: "HOLD", createdAt: NOW } as const;
    const answer = await answerOf(
      verdictView({
        runs: [
          { ...run, run: 1, evidenceHash: `0x${"a1".repeat(32)}` },
          { ...run, run: 2, cause: "review", finalVerdict: "ALLOW", evidenceHash: `0x${"a2".repeat(32)}` },
        ],
        result: verdictResult({ review: { reviewed_by: "Trust desk", reason: "Sources checked." } }),
      }),
    );
    expect(answer.evidence_hash).toBe(`0x${"a2".repeat(32)}`);
    expect(answer.methodology).toMatchObject({
      runs: [
        { run: 1, cause: "submitted", final_verdict: "HOLD" },
        { run: 2, cause: "review", final_verdict: "ALLOW" },
      ],
      reviewed_by: "Trust desk",
      review_reason: "Sources checked.",
    });
  });

  it("keeps a HOLD in sight while it is run again", async () => {
    const rerun = { cause: "evidence", status: "processing" } as const;
    const answer = await answerOf(verdictView({ result: verdictResult({ final_verdict: "HOLD" }), rerun }));
    expect(answer).toMatchObject({ status: "completed", final_verdict: "HOLD", rerun });
  });

  it("is open to any caller that knows the id, and is not in shared caches", async () => {
    const response = await ask(verdictView());
    expect([response.status, response.headers.get("cache-control")]).toEqual([200, "private, no-cache"]);
    expect((await ask(pendingView())).headers.get("cache-control")).toBe("private, no-store");
  });

  it("is 304 while nothing changed, and 200 with another tag once its settlement did", async () => {
    const job = { chainId: 31_337, escrow: `0x${"e5".repeat(20)}`, jobId: 7n } as const;
    const settlement = { ...job, txHash: null, reviewBy: null, reason: null, signed: null } as const;
    const namedJob = { ...job, isBound: true };
    const signed = verdictView({ namedJob, settlement: { ...settlement, status: "signed" } });
    const tag = (await ask(signed)).headers.get("etag") ?? "";
    const again = await ask(signed, { "if-none-match": tag });
    expect([again.status, await again.text(), again.headers.get("etag")]).toEqual([304, "", tag]);
    const settled = verdictView({ namedJob, settlement: { ...settlement, status: "settled" } });
    expect((await ask(settled, { "if-none-match": tag })).status).toBe(200);
  });

  it.each(["x", "7c9e6679-7425-40de-944b", "00000000-0000-4000-8000-000000000000", "%00"])(
    "is 404 for %s",
    async (id) => {
      const response = await fakeVerificationApp().request(`/v1/verdicts/${id}`);
      expect([response.status, (await bodyOf(response)).type]).toEqual([404, "/docs#problem-not-found"]);
    },
  );

  it("takes the id in any case", async () => {
    const response = await fakeVerificationApp().request(`/v1/verdicts/${VERDICT_ID.toUpperCase()}`);
    expect(response.status).toBe(200);
  });

  it("is 503 when the database is away", async () => {
    const find = () => Promise.reject(new Error("timeout exceeded when trying to connect"));
    const { verdicts } = withVerdict(verdictView());
    const response = await fakeVerificationApp({ verdicts: { ...verdicts, find } }).request(PATH);
    expect(response.status).toBe(503);
  });
});

describe("the settlement of a verdict", () => {
  const escrow = "0x5fbdb2315678afecb367f032d93f642f64180aa3";
  const named = { chainId: 31_337, escrow, jobId: 255n, isBound: false } as const;

  it("is null where the specification names no job", async () => {
    expect((await answerOf(verdictView())).settlement).toBeNull();
  });

  it("says that a specification is not the job's", async () => {
    const { settlement } = await answerOf(verdictView({ namedJob: named }));
    expect(settlement).toMatchObject({
      chain_id: 31_337,
      escrow: "0x5FbDB2315678afecb367f032d93F642f64180aa3",
      job_id: "0xff",
      status: "unbound",
      tx_hash: null,
    });
    expect(settlement?.reason).toContain("not bound to this job");
  });

  it("says that a job without an escrow binds nothing", async () => {
    const namedJob = { chainId: null, escrow: null, jobId: 7n, isBound: false };
    const { settlement } = await answerOf(verdictView({ namedJob }));
    expect(settlement).toMatchObject({ chain_id: null, escrow: null, status: "unbound" });
    expect(settlement?.reason).toContain("without its chain and escrow");
  });

  it("shows transaction and review of a bound job", async () => {
    const { settlement } = await answerOf(
      verdictView({
        namedJob: { ...named, isBound: true },
        settlement: {
          ...{ chainId: 31_337, escrow, jobId: 255n, reason: null, signed: SIGNED },
          ...{ status: "held", txHash: `0x${"ab".repeat(32)}`, reviewBy: NOW },
        },
      }),
    );
    expect(settlement).toEqual({
      chain_id: 31_337,
      escrow: "0x5FbDB2315678afecb367f032d93F642f64180aa3",
      job_id: "0xff",
      status: "held",
      tx_hash: `0x${"ab".repeat(32)}`,
      review_by: NOW.toISOString(),
      reason: null,
      signed: {
        verdict: {
          escrow: "0x5FbDB2315678afecb367f032d93F642f64180aa3",
          job_id: "0xff",
          deliverable: `0x${"01".repeat(32)}`,
          spec_hash: `0x${"02".repeat(32)}`,
          decision: 3,
          score: 80,
          confidence_bps: 8_300,
          evidence_hash: `0x${"03".repeat(32)}`,
          issued_at: 1_800_000_000,
          deadline: 1_800_086_400,
        },
        signature: `0x${"04".repeat(65)}`,
        evaluator: "0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512",
        signer: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
      },
    });
  });
});

const SIGNED: SignedVerdict = {
  decision: "HOLD",
  deliverable: `0x${"01".repeat(32)}`,
  specHash: `0x${"02".repeat(32)}`,
  score: 80,
  confidenceBps: 8_300,
  evidenceHash: `0x${"03".repeat(32)}`,
  issuedAt: 1_800_000_000,
  deadline: 1_800_086_400,
  evaluator: "0xe7f1725e7734ce288f8367e1bb143e90bb3f0512",
  signer: "0x70997970c51812dc3a010c7d01b50e0d17dc79c8",
  signature: `0x${"04".repeat(65)}`,
};
