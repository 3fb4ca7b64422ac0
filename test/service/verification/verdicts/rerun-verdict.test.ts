import { describe, expect, it } from "vitest";
import { type RetryState, refusalOf } from "../../../../service/verification/verdicts/rerun-verdict.ts";

const FAILED: RetryState = {
  owner: "key:1",
  parties: ["0xc1", "0xa9"],
  status: "failed",
  runs: 0,
  retries: 0,
  units: 500,
  debitId: "d",
  isReplaced: false,
  isReturned: false,
  hasTexts: true,
};

describe("who may have a verdict retried, and when", () => {
  it.each<[string, Partial<RetryState>, object | null]>([
    ["a failed one, for its owner", {}, null],
    ["the third time", { retries: 2 }, null],
    ["another's, whatever its state", { owner: "key:2", status: "pending" }, { kind: "not-the-submitter" }],
    ["one that waits", { status: "pending" }, { kind: "not-failed", status: "pending" }],
    ["one that runs", { status: "processing" }, { kind: "not-failed", status: "processing" }],
    ["a decided one run again", { status: "pending", runs: 1 }, { kind: "not-failed", status: "completed" }],
    ["a fourth time", { retries: 3 }, { kind: "used-up" }],
    ["one whose place is taken", { isReplaced: true }, { kind: "used-up" }],
    ["one without texts", { hasTexts: false }, { kind: "texts-dropped" }],
  ])("%s", (_name, changes, refusal) => {
    expect(refusalOf({ ...FAILED, ...changes }, "key:1")).toEqual(refusal);
  });

  it("client and provider of its job, as long as no key would pay for it", () => {
    const paid: RetryState = { ...FAILED, owner: "wallet:0xee", debitId: null };
    expect(["0xc1", "0xa9", "0xee"].map((party) => refusalOf(paid, `wallet:${party}`))).toEqual([
      null,
      null,
      null,
    ]);
    const refused = { kind: "not-the-submitter" };
    expect(refusalOf(paid, "wallet:0xff")).toEqual(refused);
    expect(refusalOf({ ...paid, parties: [] }, "wallet:0xc1")).toEqual(refused);
    expect(refusalOf({ ...paid, debitId: "d" }, "wallet:0xc1")).toEqual(refused);
  });
});
