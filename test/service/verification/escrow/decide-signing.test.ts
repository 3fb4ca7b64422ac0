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
  decision: { outputHash: DELIVERABLE, models: ["a-model"], decision: "ALLOW", job },
  evaluator: EVALUATOR,
  head: { timestamp: NOW },
  final: { number: 100n, timestamp: NOW - 60n },
  codeChange: null,
  job,
  binding: { kind: "bound", job, by: "description" },
  submission: { block: 100n, deliverable: DELIVERABLE, isConfirmed: true },
  earlier: null,
};
const HOLD = { ...sight.decision, decision: "HOLD" } as const;
const PUBLIC = { ...job, chainId: 8453 };

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
      const of = {
        ...sight,
        job: { ...job, generation, expiredAt },
        decision: { ...sight.decision, decision },
      };
      expect(decideSigning(of)).toEqual({ kind: "sign", issuedAt: NOW, deadline });
    },
  );

  it("anew once its earlier signature can be used in no block to come", () => {
    const earlier = { deadline: sight.final.timestamp - 1n, decided: 0 };
    expect(decideSigning({ ...sight, earlier })).toEqual({
      kind: "sign",
      issuedAt: NOW,
      deadline: NOW + DAY,
    });
  });

  it("by a scripted model on the local chain, by a real one on any", () => {
    const scripted = { ...sight.decision, models: ["a-model", "scripted"] };
    expect(decideSigning({ ...sight, decision: scripted }).kind).toBe("sign");
    expect(decideSigning({ ...sight, decision: { ...sight.decision, job: PUBLIC } }).kind).toBe("sign");
  });
});

it.each(["G1", "G3", "V3"] as const)(
  "a HOLD is kept unsigned past the expiry of a job of %s, which can be decided still",
  (generation) => {
    const over = { ...job, generation, expiredAt: NOW };
    expect(decideSigning({ ...sight, decision: HOLD, job: over })).toMatchObject({
      kind: "keep",
      status: "held",
    });
  },
);

describe("a decision waits", () => {
  it.each([
    ["suspended", "the escrow's code changed", { codeChange: "its code hashes to 0x" }],
    ["waiting_for_finality", "no final block has the job", { job: null }],
    ["waiting_for_submission", "nothing was submitted", { submission: null }],
    [
      "waiting_for_submission",
      "the job is funded only",
      { job: { ...job, status: "Funded" }, submission: null },
    ],
    [
      "waiting_for_finality",
      "the submission is not final",
      { submission: { ...sight.submission, block: 101n } },
    ],
    [
      "waiting_for_finality",
      "the node does not show the submission",
      { submission: { ...sight.submission, isConfirmed: false } },
    ],
    [
      "waiting_for_finality",
      "the job is Funded as of the final block",
      { job: { ...job, status: "Funded" } },
    ],
    [
      "waiting_for_submission",
      "nothing was submitted by the expiry",
      { job: { ...job, status: "Funded", expiredAt: NOW - 1n }, submission: null },
    ],
    [
      "waiting_for_finality",
      "its earlier signature may still be brought in the next block",
      { earlier: { deadline: NOW - 60n, decided: 0 } },
    ],
    ["unbound", "its specification is not the job's", { binding: { kind: "unbound", reason: "no" } }],
    ["suspended", "the final block has other code", { binding: { kind: "suspended", reason: "no" } }],
    ["refused", "the job names another evaluator", { job: { ...job, evaluator: job.client } }],
    [
      "refused",
      "another output was submitted last",
      { submission: { ...sight.submission, deliverable: `0x${"22".repeat(32)}` } },
    ],
  ] as const)("as %s where %s", (status, _, changed) => {
    const decided = decideSigning({ ...sight, ...changed } as SigningSnapshot);
    expect(decided).toMatchObject({ kind: "wait", status });
  });
});

describe("a decision is never signed", () => {
  it.each([
    [
      "expired",
      "the job's time of grace is over",
      { job: { ...job, generation: "G3", expiredAt: NOW - 3_600n } },
    ],
    [
      "refused",
      "the evaluator acted on its earlier signature",
      { earlier: { deadline: NOW - DAY, decided: 1 } },
    ],
    ["expired", "the job is Expired", { job: { ...job, status: "Expired" } }],
    ["refused", "the job is Completed", { job: { ...job, status: "Completed" } }],
    ["refused", "the job is Rejected", { job: { ...job, status: "Rejected" } }],
    [
      "refused",
      "the job named another evaluator until it expired",
      { job: { ...job, evaluator: job.client, expiredAt: NOW } },
    ],
    [
      "refused",
      "a scripted model made it for a public chain",
      {
        decision: {
          outputHash: DELIVERABLE,
          models: ["a-model", "scripted"],
          decision: "ALLOW",
          job: PUBLIC,
        },
      },
    ],
  ] as const)("as %s where %s", (status, _, changed) => {
    const decided = decideSigning({ ...sight, ...changed } as SigningSnapshot);
    expect(decided).toMatchObject({ kind: "never", status });
  });
});
