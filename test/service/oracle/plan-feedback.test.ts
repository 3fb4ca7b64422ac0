import type { Address } from "viem";
import { describe, expect, test } from "vitest";
import type { FeedbackLabel } from "../../../service/db/tables/publish.ts";
import {
  type FeedbackCandidate,
  type FeedbackPolicy,
  planFeedback,
} from "../../../service/oracle/plan-feedback.ts";

const WALLET: Address = `0x${"11".repeat(20)}`;
const OTHER: Address = `0x${"22".repeat(20)}`;
/** Each call of a replacement costs 10 or 2 wei. */
const policy: FeedbackPolicy = {
  dailyWei: 100n,
  expectedGas: { give: 10n, revoke: 2n },
  mostPerDay: { agent: 3, wallet: 10, owner: 2 },
  mostUnderWay: 100,
};
const nothingSpent = { spentWei: 0n, weiPerGas: 1n, underWay: 0, replacing: 0 };

function candidate(agentId: bigint, parts: Partial<FeedbackCandidate>): FeedbackCandidate {
  return {
    ...{ agentId, wanted: null, entry: null, revoked: null },
    ...{ givenToday: { agent: 0, wallet: 0 }, givenLately: 0 },
    ...parts,
  };
}
const wants = (label: FeedbackLabel, wallet = WALLET) => ({ wallet, label });
const holds = (label: FeedbackLabel, wallet = WALLET) => ({ index: 1, wallet, label });

function planned(...[candidates, today, rules]: Partial<Parameters<typeof planFeedback>>) {
  const plan = planFeedback(candidates ?? [], today ?? nothingSpent, rules ?? policy);
  return {
    acts: plan.acts.map(({ kind, candidate: { agentId } }) => `${kind} ${agentId}`),
    held: plan.held,
  };
}

describe("one agent", () => {
  test.each([
    ["is given its first grade", { wanted: wants("B") }, ["give 1"]],
    ["has nothing said without a score", {}, []],
    ["has another grade taken back first", { wanted: wants("D"), entry: holds("B") }, ["revoke 1"]],
    ["is given the new grade then", { wanted: wants("D"), revoked: "B" as const }, ["give 1"]],
    ["has a grade taken back that no score backs", { entry: holds("B") }, ["revoke 1"]],
    [
      "has the grade of a former wallet taken back",
      { wanted: wants("B", OTHER), entry: holds("B") },
      ["revoke 1"],
    ],
    ["has no fourth feedback in a day", { wanted: wants("B"), givenToday: { agent: 3, wallet: 3 } }, []],
    [
      "has what is out of date taken back even then",
      { wanted: wants("B"), entry: holds("A"), givenToday: { agent: 3, wallet: 3 } },
      ["revoke 1"],
    ],
    [
      "is left alone beyond the day's feedback for its wallet",
      { wanted: wants("B"), givenToday: { agent: 0, wallet: 10 } },
      [],
    ],
  ])("%s", (_what, parts, acts) => {
    expect(planned([candidate(1n, parts)])).toEqual({ acts, held: 0 });
  });
});

test("the gravest changes are sent first", () => {
  const candidates = [
    candidate(1n, { wanted: wants("A") }),
    candidate(2n, { wanted: wants("A"), entry: holds("B") }),
    candidate(3n, { wanted: wants("B"), entry: holds("A") }),
    candidate(4n, { wanted: wants("F") }),
    candidate(5n, { entry: holds("A") }),
    candidate(6n, { wanted: wants("A", OTHER), entry: holds("A") }),
    candidate(7n, { wanted: wants("D"), entry: holds("C") }),
    candidate(8n, { wanted: wants("sanctioned"), entry: holds("F") }),
    candidate(9n, { wanted: wants("A"), revoked: "C" }),
  ];
  expect(planned(candidates, nothingSpent, { ...policy, dailyWei: 1_000n }).acts).toEqual([
    "give 9",
    "revoke 8",
    "revoke 7",
    "revoke 5",
    "revoke 6",
    "give 4",
    "revoke 3",
    "give 1",
    "revoke 2",
  ]);
});

describe("the money of a day", () => {
  test("holds back what does not fit, the least grave first", () => {
    const candidates = [
      candidate(1n, { wanted: wants("A") }),
      candidate(2n, { wanted: wants("F"), entry: holds("B") }),
    ];
    expect(planned(candidates, { ...nothingSpent, spentWei: 88n })).toEqual({ acts: ["revoke 2"], held: 1 });
  });

  test("keeps a tenth for what is no longer true", () => {
    const first = candidate(1n, { wanted: wants("F") });
    const fall = candidate(2n, { wanted: wants("F"), entry: holds("A") });
    expect(planned([first, fall], { ...nothingSpent, spentWei: 81n })).toEqual({
      acts: ["revoke 2"],
      held: 1,
    });
  });

  test("is spent on the feedback of a former wallet alone where an agent changed its wallet", () => {
    const moved = [candidate(1n, { wanted: wants("F", OTHER), entry: holds("A") })];
    expect(planned(moved, { ...nothingSpent, spentWei: 98n }).acts).toEqual(["revoke 1"]);
  });

  test("starts a replacement only if both of its calls fit", () => {
    const replaced = [candidate(1n, { wanted: wants("F"), entry: holds("B") })];
    expect(planned(replaced, { ...nothingSpent, spentWei: 89n })).toEqual({ acts: [], held: 1 });
  });

  test("counts second calls of replacements under way", () => {
    const first = [candidate(1n, { wanted: wants("A") })];
    expect(planned(first, { ...nothingSpent, spentWei: 70n, replacing: 1 }).held).toBe(0);
    expect(planned(first, { ...nothingSpent, spentWei: 70n, replacing: 2 }).held).toBe(1);
  });

  test("lets a second call take a quarter more, and no further", () => {
    const second = [candidate(1n, { wanted: wants("A"), revoked: "B" })];
    expect(planned(second, { ...nothingSpent, spentWei: 115n }).acts).toEqual(["give 1"]);
    expect(planned(second, { ...nothingSpent, spentWei: 116n }).acts).toEqual([]);
  });
});

test("calls wait while others wait for a block", () => {
  const candidates = [1n, 2n, 3n].map((agentId) => candidate(agentId, { wanted: wants("B") }));
  const rules = { ...policy, mostUnderWay: 4 };
  expect(planned(candidates, { ...nothingSpent, underWay: 2 }, rules)).toEqual({
    acts: ["give 1", "give 2"],
    held: 1,
  });
});

test("agents that change wallets each day come after one that had no feedback lately", () => {
  const handed = Array.from({ length: 20 }, (_, index) =>
    candidate(BigInt(index), {
      wanted: wants("F", `0x${index.toString(16).padStart(40, "0")}`),
      givenLately: 1,
    }),
  );
  const honest = candidate(99n, { wanted: wants("F") });
  expect(planned([...handed, honest]).acts[0]).toBe("give 99");
});

test("agents of one wallet share its feedback of the day", () => {
  const candidates = Array.from({ length: 12 }, (_, index) =>
    candidate(BigInt(index), { wanted: wants("F") }),
  );
  const rules = { ...policy, dailyWei: 1_000n };
  expect(planned(candidates, nothingSpent, rules).acts).toHaveLength(10);
});

test("agents that had feedback lately leave most of the day's money to those without any", () => {
  const [again, first] = [
    candidate(1n, { wanted: wants("A"), givenLately: 1 }),
    candidate(2n, { wanted: wants("A", OTHER) }),
  ];
  expect(planned([again, first], { ...nothingSpent, spentWei: 1n })).toEqual({ acts: ["give 2"], held: 1 });
  expect(planned([again], { ...nothingSpent, spentWei: 0n }).acts).toEqual(["give 1"]);
});
