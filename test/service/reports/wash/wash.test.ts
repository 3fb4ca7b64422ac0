import { checksumAddress, zeroAddress } from "viem";
import { describe, expect, test } from "vitest";
import type { WalletRows } from "../../../../service/model/features/types.ts";
import { summarizeWash, washWallet } from "../../../../service/reports/wash/wash.ts";
import type { DeductionName } from "../../../../service/reports/wash/wash-score.ts";
import { dirtyRows, diverseTrader } from "../../model/features/archetypes.ts";
import {
  account,
  callsOf,
  DAY,
  payment,
  rowsOf,
  START,
  type Step,
  USDC,
  withFacts,
} from "../../model/features/histories.ts";
import { factsOf } from "../diagnosis/reports.ts";

type WashTransfers = Parameters<typeof washWallet>[1];

const QUIET: WashTransfers = {
  exchanges: { sent: [], returned: [], truncated: false },
  received: { tokens: [], truncated: false },
  drawnTokens: new Set(),
  rating: { sanctioned: false, grade: "B" },
};
const PLAN = { days: 60, seed: 7 };
/** A trader with enough token movements for a score. */
const TRADER: readonly Step[] = [
  ...diverseTrader(PLAN),
  ...[1, 2, 3, 4, 5].map((day) => payment(START + day * DAY, account(19), 1_000_000n)),
];

function wash(rows: WalletRows, transfers: Partial<WashTransfers> = {}) {
  return washWallet(factsOf(rows), { ...QUIET, ...transfers });
}

function pointsOf(rows: WalletRows, name: DeductionName, transfers: Partial<WashTransfers> = {}) {
  return wash(rows, transfers).cleanliness.deductions.find((deduction) => deduction.name === name)?.points;
}

describe("a wash", () => {
  test("of a tidy trader finds nothing", () => {
    const { cleanliness, issues } = wash(rowsOf(callsOf(TRADER)));
    expect(cleanliness).toMatchObject({
      score: 100,
      reason: null,
      range: { lowest: 100, highest: 100 },
    });
    expect(issues).toEqual([]);
  });

  test("of a wallet that leaves everything open names it all, the gravest first", () => {
    const { cleanliness, issues } = wash(dirtyRows(PLAN));
    expect(cleanliness.deductions.map(({ name, points }) => [name, points])).toEqual([
      ["dust", 0],
      ["unrecognised_tokens", 15],
      ["portfolio_quality", expect.any(Number)],
      ["approvals", 30],
      ["delegation", 10],
      ["self_dealing", 0],
      ["circular_transfers", 0],
    ]);
    expect(cleanliness.score).toBeLessThan(50);
    const severities = issues.map(({ severity }) => severity);
    expect(severities).toEqual(severities.toSorted((a, b) => ORDER.indexOf(a) - ORDER.indexOf(b)));
    expect(new Set(issues.map(({ category }) => category))).toEqual(
      new Set(["approvals", "delegation", "unrecognised_tokens", "portfolio_quality"]),
    );
    for (const { action } of issues) expect(action).not.toBe("");
  });

  test.each([
    ["is sanctioned", "sanctioned", { sanctioned: true, grade: "F" }],
    ["fails", "failing", { sanctioned: false, grade: "D" }],
    ["has no score", "not_scored", { sanctioned: false, grade: null }],
  ] as const)("of a wallet that %s praises nothing", (_name, reason, rating) => {
    const report = wash(rowsOf(callsOf(TRADER)), { rating });
    expect(report.cleanliness).toMatchObject({ score: null, range: null, reason });
    expect(summarizeWash(report)).not.toContain("100");
  });

  test("of a wallet with few token movements and approvals has no score", () => {
    expect(wash(rowsOf([])).cleanliness).toMatchObject({
      score: null,
      range: null,
      reason: "little_activity",
      activity: 0,
    });
  });

  test("of a wallet whose approvals were not read has a range and no score", () => {
    const rows = rowsOf(callsOf(TRADER), { approvals: null, counterparties: [] });
    expect(wash(rows).cleanliness).toMatchObject({
      score: null,
      reason: "not_read",
      range: { lowest: 70, highest: 100 },
    });
  });

  test("of a wallet whose receipts were not read does not score its tokens", () => {
    const rows = rowsOf(callsOf(TRADER.map((step) => ({ ...step, read: false }))));
    expect(pointsOf(rows, "unrecognised_tokens")).toBeNull();
    expect(wash(rows).cleanliness.score).toBeNull();
  });

  test("takes two points for each circle with an own account, and none for refunds of strangers", () => {
    const at = START + DAY;
    const out = {
      token: USDC,
      amount: 5n,
      block: 1,
      timestamp: at,
      hash: `0x${"1".repeat(64)}`,
      logIndex: 0,
    } as const;
    const back = { ...out, block: 2, timestamp: at + 60 };
    const peers = [account(2000), account(9)];
    const exchanges = {
      sent: peers.map((peer) => ({ ...out, peer })),
      returned: peers.map((peer) => ({ ...back, peer })),
      truncated: false,
    };
    const rows = withFacts(
      rowsOf(callsOf(TRADER)),
      new Map([[account(2000), { ownerLink: "creator" as const }]]),
    );
    expect(pointsOf(rows, "circular_transfers", { exchanges })).toBe(2);
    expect(wash(rows, { exchanges }).issues.map(({ category, severity }) => [category, severity])).toEqual([
      ["circular_transfers", "warning"],
      ["circular_transfers", "info"],
    ]);
  });

  test("takes nothing for an approval that a hostile token logged in the wallet's name", () => {
    const calls = callsOf(diverseTrader(PLAN));
    const last = calls.at(-1);
    if (last === undefined) throw new Error("a trader calls");
    const approval = {
      token: account(0xbad),
      spender: account(0xbae),
      kind: "amount",
      approvedAt: last.timestamp,
    } as const;
    const rows = rowsOf(calls, { approvals: [approval] });
    const hostile = withFacts(rows, new Map([[account(0xbae), { existedAt: null, outsideUsers: 0 }]]));
    expect(pointsOf(hostile, "approvals")).toBe(0);
    expect(wash(hostile).issues).toEqual([]);
    const given = [...calls.slice(0, -1), { ...last, to: account(0xbad) }];
    expect(pointsOf({ ...hostile, calls: given }, "approvals")).toBe(10);
  });

  test("lists what strangers sent by kind and takes nothing for it", () => {
    const rows = rowsOf(callsOf(TRADER));
    const sent = { standard: "erc20", transfers: 3, senders: 2, lastAt: START } as const;
    const received = {
      truncated: false,
      tokens: [
        { ...sent, token: account(0xbad), amount: 10n ** 30n },
        { ...sent, token: USDC, amount: 9_999n },
        { ...sent, token: zeroAddress, standard: "native" as const, amount: 10n ** 18n },
        { ...sent, token: account(0xbae), standard: "erc721" as const, amount: null },
      ],
    };
    const spammed = wash(rows, { received });
    expect(spammed.cleanliness).toEqual(wash(rows).cleanliness);
    expect(spammed.received).toMatchObject({ spamTokens: 2, dustTokens: 1, transfers: 12 });
    expect(spammed.received.tokens.map(({ kind, symbol, microUsd }) => [kind, symbol, microUsd])).toEqual([
      ["spam", null, null],
      ["dust", "USDC", 9_999],
      ["gift", "ETH", 2_000_000_000],
      ["spam", null, null],
    ]);
    expect(spammed.issues.map(({ severity }) => severity)).toEqual(["info", "info"]);
  });
});

const ORDER = ["critical", "warning", "info"];

test("the advice about a token names the token, each once", () => {
  const facts = factsOf(dirtyRows({ days: 60, seed: 7 }));
  const { issues, portfolio } = washWallet(facts, QUIET);
  if (portfolio.kind !== "held") throw new Error("expected a wallet that holds something");
  const unknown = portfolio.positions.filter(({ recognised }) => !recognised);
  const actions = issues
    .filter(({ category }) => category === "unrecognised_tokens")
    .map(({ action }) => action);
  expect(actions.length).toBeGreaterThan(0);
  expect(
    actions.map((action) =>
      unknown.filter(({ token }) => action.includes(checksumAddress(token))).map(({ token }) => token),
    ),
  ).toEqual(unknown.map(({ token }) => [token]));
});
