import fc from "fast-check";
import type { Address } from "viem";
import { describe, expect, it } from "vitest";
import { riskFactsReader } from "../../../../service/api/schemas/risk.ts";
import { exposedShare } from "../../../../service/model/features/exposure.ts";
import { createMarket } from "../../../../service/model/features/market.ts";
import { scoreWallet } from "../../../../service/model/features/score-wallet.ts";
import type { WalletRows } from "../../../../service/model/features/types.ts";
import { weighCalls } from "../../../../service/model/features/weigh-calls.ts";
import { AHS_2026_2 } from "../../../../service/model/score/policy.ts";
import { assessRisk } from "../../../../service/reports/risk/risk.ts";
import type { ScoreExplanation } from "../../../../service/reports/risk/risk-facts.ts";
import {
  account,
  asOfLast,
  callsOf,
  HOUR,
  payment,
  rowsOf,
  START,
  type Step,
  UNPRICED,
  WALLET,
  withFacts,
} from "../../model/features/histories.ts";
import { RISK_FACTS } from "../routes/risk-facts.ts";

const MIXER = account(0x31);
const OWN = account(0x51);
const SHOP = account(0x61);
const DOLLAR = 1_000_000n;

const UNEXPLAINED: ScoreExplanation = { patterns: [], features: [] };

function judged(rows: WalletRows, listed: readonly Address[], explanation = UNEXPLAINED) {
  const { exposure } = RISK_FACTS;
  if (typeof exposure === "string") throw new Error("the fake wallet has contacts");
  const facts = { explanation, exposure: { ...exposure, listed } };
  const source = { rows, asOf: asOfLast(rows.calls) };
  return riskFactsReader({ load: async () => facts, readWallet: async () => source, policy: AHS_2026_2 })({
    address: WALLET,
    scoreId: null,
  });
}

/** Rows with a mixer, an own wallet, and third parties. */
function rowsWith(steps: readonly Step[], flag: "mixer" | null = "mixer"): WalletRows {
  return withFacts(
    rowsOf(callsOf(steps)),
    new Map([
      [MIXER, { flag }],
      [OWN, { ownerLink: "mutual_funding" as const, hasCode: false }],
    ]),
  );
}

describe("the share to listed accounts", () => {
  const mixed = payment(START, MIXER, 1_000n * DOLLAR);
  const unpriced = { at: START + HOUR, to: MIXER, emitters: [MIXER] };

  it("is not diluted by what goes to an own wallet", async () => {
    const rows = rowsWith([mixed, payment(START + HOUR, OWN, 200_000n * DOLLAR)]);
    expect((await judged(rows, [MIXER])).listedShare).toBe(1);
  });

  it("does not forget calls without a price for the sake of one micro-dollar", async () => {
    const calls = Array.from({ length: 9 }, (_, place) => ({ ...unpriced, at: START + place * HOUR }));
    const rows = rowsWith([
      ...calls,
      payment(START + 10 * HOUR, MIXER, 1n),
      payment(START + 11 * HOUR, SHOP, 1_000n * DOLLAR),
    ]);
    expect((await judged(rows, [MIXER])).listedShare).toBeCloseTo(9 / 11, 6);
  });

  it("is that by the lists of today, which may be newer than the rows", async () => {
    const rows = rowsWith([mixed, payment(START + HOUR, SHOP, 1_000n * DOLLAR)], null);
    expect((await judged(rows, [MIXER])).listedShare).toBe(0.5);
  });

  it("is read of no wallet that never dealt with a listed account", async () => {
    const read = riskFactsReader({
      load: async () => RISK_FACTS,
      readWallet: () => Promise.reject(new Error("own calls were not to be read")),
      policy: AHS_2026_2,
    });
    expect((await read({ address: WALLET, scoreId: null })).listedShare).toBe(0);
  });

  it("is not known while own calls cannot be read", async () => {
    const { exposure } = RISK_FACTS;
    if (typeof exposure === "string") throw new Error("the fake wallet has contacts");
    const facts = { ...RISK_FACTS, exposure: { ...exposure, listed: [MIXER] } };
    const read = riskFactsReader({
      load: async () => facts,
      readWallet: async () => null,
      policy: AHS_2026_2,
    });
    expect((await read({ address: WALLET, scoreId: null })).listedShare).toBeNull();
  });
});

describe("risk and score of any history", () => {
  const step = fc.record({
    at: fc.integer({ min: 0, max: 2_000 }).map((place) => START + place * HOUR),
    to: fc.constantFrom(MIXER, OWN, SHOP, account(0x62)),
    dollars: fc.bigInt({ min: 0n, max: 1_000n }),
    kind: fc.constantFrom("payment", "call", "unpriced", "router"),
    ok: fc.boolean(),
  });
  const steps = fc.array(step, { minLength: 1, maxLength: 150 }).map((drawn) =>
    drawn.map(({ at, to, dollars, kind, ok }): Step => {
      if (kind === "call") return { at, to, ok };
      // Only the logs of the router's call name the counterparty.
      if (kind === "router") return { at, to: SHOP, emitters: [to], ok };
      const paid = payment(at, to, dollars * DOLLAR);
      return kind === "payment" ? { ...paid, ok } : { ...paid, ok, to: UNPRICED, emitters: [UNPRICED] };
    }),
  );

  it("agree on the share to listed accounts, which raises the risk and leaves the score", async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (drawn) => {
        const rows = rowsWith(drawn);
        const record = scoreWallet({ rows, asOf: asOfLast(rows.calls), policy: AHS_2026_2 });
        const isContact = rows.calls.some(({ to, recipient }) => to === MIXER || recipient === MIXER);
        const { listedShare } = await judged(rows, isContact ? [MIXER] : [], record);
        const market = createMarket(rows.tokens);
        const exposed = exposedShare(weighCalls(rows, market, AHS_2026_2), rows, market);
        expect(listedShare).toBe(exposed);
        const { outcome, confidenceLevel } = record;
        const score =
          outcome.kind === "scored"
            ? ({ kind: "scored", ahsScore: outcome.ahsScore, confidenceLevel } as const)
            : ({ kind: "insufficient" } as const);
        const evidence = { sanctioned: false, score, signals: [] };
        const risk = assessRisk({ ...evidence, listedShare }, AHS_2026_2);
        const limit = exposed >= 0.1 ? 54 : exposed >= 0.02 ? 74 : 100;
        expect(risk).toEqual(assessRisk({ ...evidence, listedShare: exposed }, AHS_2026_2));
        if (outcome.kind === "scored") expect(risk.score).toBe(100 - Math.min(limit, outcome.ahsScore));
      }),
      { numRuns: 100 },
    );
  });
});
