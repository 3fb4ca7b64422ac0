import { describe, expect, it } from "vitest";
import {
  type AppealSnapshot,
  appealTimes,
  decideAppeal,
} from "../../../../service/verification/escrow/decide-appeal.ts";

const NOW = new Date("2026-11-20T10:00:00.000Z");
const at = (seconds: number) => new Date(NOW.getTime() + seconds * 1_000);
const DAY = 86_400;

const snapshot: AppealSnapshot = {
  decision: { decision: "REJECT", run: 1, cause: "submitted" },
  appeal: null,
  appealUnits: 500,
  windowSeconds: 600,
  secondsLeft: DAY,
  now: NOW,
};
const term = (changes: Partial<NonNullable<AppealSnapshot["appeal"]>> = {}) => ({
  appeal: { run: 1, state: "window", appealBy: at(600), decideBy: at(4_200), ...changes } as const,
});
const decided = (changes: Partial<AppealSnapshot["decision"]>) => ({
  decision: { ...snapshot.decision, ...changes },
});

describe("the times of an appeal", () => {
  it.each([
    ["the operator's, and an hour for the panel", 600, DAY, 600, 4_200],
    ["a quarter and a half of a short job's time", 600, 1_000, 250, 500],
    ["half of the job's time for the panel, if an hour is more", 600, 4_000, 600, 2_000],
    ["without end, those of the operator", 604_800, Number.MAX_SAFE_INTEGER, 604_800, 608_400],
  ])("are %s", (_, windowSeconds, secondsLeft, toAppeal, toDecide) => {
    const times = appealTimes({ windowSeconds, secondsLeft, now: NOW });
    expect(times).toEqual({ appealBy: at(toAppeal), decideBy: at(toDecide) });
  });

  it.each([
    ["appeals are off", 0, DAY],
    ["a job is about to expire", 600, 3],
    ["a job has expired", 600, -10],
  ])("are null where %s", (_, windowSeconds, secondsLeft) => {
    expect(appealTimes({ windowSeconds, secondsLeft, now: NOW })).toBeNull();
  });

  it("leave half of a job's time to settle it, whatever the operator allows", () => {
    for (let secondsLeft = 4; secondsLeft < 40_000; secondsLeft = Math.ceil(secondsLeft * 1.7)) {
      for (const windowSeconds of [1, 60, 3_600, 604_800]) {
        const times = appealTimes({ windowSeconds, secondsLeft, now: NOW });
        if (times === null) throw new Error("four seconds are enough");
        expect(times.appealBy.getTime()).toBeLessThanOrEqual(times.decideBy.getTime());
        expect(times.decideBy.getTime()).toBeLessThanOrEqual(at(secondsLeft / 2).getTime());
      }
    }
  });
});

describe("a decision that could be signed", () => {
  it.each(["ALLOW", "REJECT"] as const)("by the panel, %s, may be appealed first", (decision) => {
    const opened = { kind: "open", appealBy: at(600), decideBy: at(4_200), units: 500 };
    expect(decideAppeal({ ...snapshot, ...decided({ decision }) })).toEqual(opened);
  });

  it.each<[string, Partial<AppealSnapshot>]>([
    ["HOLD", decided({ decision: "HOLD" })],
    ["a reviewer's", decided({ cause: "review", run: 2 })],
    ["where appeals are off", { windowSeconds: 0 }],
    ["whose appeal has no price", { appealUnits: null }],
    ["of a job that is about to expire", { secondsLeft: 2 }],
    ["that was not appealed in time", { ...term(), now: at(600) }],
    ["whose appeal is not paid in time", { ...term({ state: "unsettled" }), now: at(4_200) }],
    ["whose appeal failed", term({ state: "failed" })],
    ["on appeal", { ...decided({ run: 2, cause: "appeal" }), ...term({ state: "overturned" }) }],
    ["after an appeal that ended in HOLD", term({ state: "held" })],
  ])("is signed: %s", (_, changes) => {
    expect(decideAppeal({ ...snapshot, ...changes })).toEqual({ kind: "sign" });
  });

  it.each<[string, Partial<AppealSnapshot>, object]>([
    [
      "until its time to appeal is over",
      { ...term(), now: at(599) },
      { status: "appealable", until: at(600) },
    ],
    [
      "while an appeal is being paid",
      { ...term({ state: "unsettled" }), now: at(4_199) },
      { status: "appealable", until: null },
    ],
    [
      "while the second panel judges",
      { ...term({ state: "open" }), now: at(9_999) },
      { status: "appealed", until: null },
    ],
  ])("waits %s", (_, changes, step) => {
    expect(decideAppeal({ ...snapshot, ...changes })).toEqual({ kind: "wait", ...step });
  });
});
