import type { Address } from "viem";
import { describe, expect, it } from "vitest";
import {
  decideSigning,
  type SigningSnapshot,
} from "../../../../service/verification/escrow/decide-signing.ts";

const EVALUATOR: Address = "0x00000000000000000000000000000000000000ef";
const DELIVERABLE = `0x${"11".repeat(32)}` as const;
const DAY = 86_400n;
const NOW = 1_800_000_000n;

const job: NonNullable<SigningSnapshot["job"]> = {
  generation: "G1",
  chainId: 31_337,
  escrow: "0x00000000000000000000000000000000000000e5",
  jobId: 7n,
  client: "0x00000000000000000000000000000000000000c1",
  provider: "0x00000000000000000000000000000000000000a9",
  evaluator: EVALUATOR,
  status: "Submitted",
  expiredAt: NOW + 10n * DAY,
  budget: 5n,
  description: "",
};
const sight: SigningSnapshot = {
  decision: {
    ...{ outputHash: DELIVERABLE, models: ["a-model"], decision: "ALLOW", job, run: 1, cause: "submitted" },
  },
  evaluator: EVALUATOR,
  head: { timestamp: NOW },
  final: { number: 100n, timestamp: NOW - 60n },
  codeChange: null,
  job,
  binding: { kind: "bound", job, by: "description" },
  submission: { block: 100n, deliverable: DELIVERABLE, isConfirmed: true },
  earlier: null,
  appeal: null,
  appealUnits: 500,
  windowSeconds: 0,
  now: new Date(Number(NOW) * 1_000),
};
const HOLD = { ...sight.decision, decision: "HOLD" } as const;
const PUBLIC = { ...job, chainId: 8453 };
const SCRIPTED = ["a-model", "scripted"];
/** The snapshot with another job, submission or earlier signature. */
const ofJob = (changes: Partial<typeof job>) => ({ job: { ...job, ...changes } });
const delivered = (changes: object) => ({
  submission: { block: 100n, deliverable: DELIVERABLE, isConfirmed: true, ...changes },
});
const signedBefore = (deadline: bigint, decided = 0) => ({ earlier: { deadline, decided } });

describe("a decision is signed", () => {
  it("for a day from the newest block on", () => {
    expect(decideSigning(sight)).toEqual({ kind: "sign", issuedAt: NOW, deadline: NOW + DAY });
  });

  it.each([
    ["G1", "ALLOW", NOW + 60n, NOW + DAY],
    ["V3", "REJECT", NOW + 60n, NOW + DAY],
    ["G1", "ALLOW", NOW - 30n * DAY, NOW + DAY],
    ["G3", "ALLOW", NOW + 60n, NOW + 3_660n],
    ["G3", "REJECT", NOW - 3_599n, NOW + 1n],
    ["G3", "ALLOW", NOW + DAY, NOW + DAY],
    ["G1", "HOLD", NOW + 60n, NOW + 60n],
    ["G3", "HOLD", NOW + 60n, NOW + 60n],
  ] as const)(
    "in %s, %s of a job that expires at %i, until %i",
    (generation, decision, expiredAt, deadline) => {
      const of = { ...sight, ...ofJob({ generation, expiredAt }), decision: { ...sight.decision, decision } };
      expect(decideSigning(of)).toEqual({ kind: "sign", issuedAt: NOW, deadline });
    },
  );

  it("anew once its earlier signature can be used in no block to come", () => {
    const expired = { ...sight, ...signedBefore(sight.final.timestamp - 1n) };
    expect(decideSigning(expired)).toEqual({ kind: "sign", issuedAt: NOW, deadline: NOW + DAY });
  });

  it("by a scripted model on the local chain, by a real one on any", () => {
    expect(decideSigning({ ...sight, decision: { ...sight.decision, models: SCRIPTED } }).kind).toBe("sign");
    expect(decideSigning({ ...sight, decision: { ...sight.decision, job: PUBLIC } }).kind).toBe("sign");
  });
});

it.each(["G1", "G3", "V3"] as const)("a HOLD stays unsigned past the expiry of a job of %s", (generation) => {
  const over = { ...sight, decision: HOLD, ...ofJob({ generation, expiredAt: NOW }) };
  expect(decideSigning(over)).toMatchObject({ kind: "keep", status: "held" });
});

describe("a decision waits", () => {
  it.each<[status: string, why: string, changed: object]>([
    ["suspended", "the escrow's code changed", { codeChange: "its code hashes to 0x" }],
    ["waiting_for_finality", "no final block has the job", { job: null }],
    ["waiting_for_submission", "nothing was submitted", { submission: null }],
    ["waiting_for_submission", "it is funded only", { ...ofJob({ status: "Funded" }), submission: null }],
    ["waiting_for_finality", "the submission is not final", delivered({ block: 101n })],
    ["waiting_for_finality", "the node does not show the submission", delivered({ isConfirmed: false })],
    ["waiting_for_finality", "the job is Funded as of the final block", ofJob({ status: "Funded" })],
    [
      "waiting_for_submission",
      "nothing was submitted by the expiry",
      { ...ofJob({ status: "Funded", expiredAt: NOW - 1n }), submission: null },
    ],
    ["waiting_for_finality", "its earlier signature may be used in the next block", signedBefore(NOW - 60n)],
    ["unbound", "its specification is not the job's", { binding: { kind: "unbound", reason: "no" } }],
    ["suspended", "the final block has other code", { binding: { kind: "suspended", reason: "no" } }],
    ["refused", "the job names another evaluator", ofJob({ evaluator: job.client })],
    ["refused", "another output was submitted last", delivered({ deliverable: `0x${"22".repeat(32)}` })],
  ])("as %s where %s", (status, _, changed) => {
    expect(decideSigning({ ...sight, ...changed })).toMatchObject({ kind: "wait", status });
  });
});

describe("a decision is never signed", () => {
  it.each<[status: string, why: string, changed: object]>([
    ["expired", "the time of grace is over", ofJob({ generation: "G3", expiredAt: NOW - 3_600n })],
    ["refused", "the evaluator acted on its earlier signature", signedBefore(NOW - DAY, 1)],
    ["expired", "the job is Expired", ofJob({ status: "Expired" })],
    ["refused", "the job is Completed", ofJob({ status: "Completed" })],
    ["refused", "the job is Rejected", ofJob({ status: "Rejected" })],
    ["refused", "it named another evaluator to its expiry", ofJob({ evaluator: job.client, expiredAt: NOW })],
    [
      "refused",
      "a scripted model made it for a public chain",
      { decision: { ...sight.decision, models: SCRIPTED, job: PUBLIC } },
    ],
  ])("as %s where %s", (status, _, changed) => {
    expect(decideSigning({ ...sight, ...changed })).toMatchObject({ kind: "never", status });
  });
});
