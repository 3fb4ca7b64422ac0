import { describe, expect, it } from "vitest";
import type { WalletSnapshot } from "../../../../service/scores/stored-score.ts";
import { USDC } from "../../model/features/histories.ts";
import {
  bodyOf,
  fakeApp,
  LISTING,
  NOW,
  PHISHING,
  WALLET,
  WALLET_EIP55,
  WITH_KEY,
  walletSnapshot,
} from "../fake-ports.ts";
import { RISK_FACTS } from "./risk-facts.ts";

const PATH = `/risk/${WALLET}`;
const UNSCORED = { score: null, followed: false } as const;

const RISK = {
  address: WALLET_EIP55,
  risk_score: 16,
  risk_level: "LOW",
  verdict: "Low risk: no signal of risk was found.",
  signals: [],
  sanctions_flags: [],
  threats: [],
  reason_codes: [],
  sanctions_as_of_block: 1000,
  counterparty_exposure: {
    share: 0,
    listed_share: 0,
    failing_share: 0,
    sent_usd: 18_240.5,
    counterparties: 12,
    listed_counterparties: 0,
    failing_counterparties: 0,
    truncated: false,
    since: "2026-09-21T14:13:20.000Z",
    as_of_block: 970,
  },
  counterparty_exposure_reason: null,
  ahs_score: 84,
  grade: "B",
  confidence: 0.81,
  confidence_level: "HIGH",
  reason: "scored",
  scored_at: "2026-11-20T09:59:00.000Z",
  stale: false,
  as_of_block: 970,
  chain_id: 31337,
};

async function risk(changes: Partial<WalletSnapshot>, facts = RISK_FACTS) {
  const fake = fakeApp({
    scores: { snapshot: async () => walletSnapshot(changes) },
    riskFacts: async () => facts,
  });
  const response = await fake.app.request(PATH, WITH_KEY);
  return { ...fake, response, body: await bodyOf(response) };
}

describe("GET /risk/{address}", () => {
  it("answers the risk for a tenth of a cent", async () => {
    const { response, body, keys, read } = await risk({});
    expect([response.status, body]).toEqual([200, RISK]);
    expect(keys.balance()).toBe(4999);
    expect(read).toEqual([WALLET]);
  });

  it("names lists of threats, which change no number", async () => {
    const { body } = await risk({ threats: [PHISHING] }, { ...RISK_FACTS, listedShare: 0.004 });
    const { risk_score, verdict, signals, threats, reason_codes } = body;
    expect({ risk_score, verdict, signals: signals?.slice(0, 1), threats, reason_codes }).toEqual({
      risk_score: 16,
      verdict: expect.stringMatching(/^Low risk: .*\. Threat lists: scamsniffer \(phishing\)\.$/),
      signals: [
        {
          name: "listed_phishing",
          severity: "critical",
          detail: `On the threat list scamsniffer (${PHISHING.source}) since ${PHISHING.listed_at}; this changes no score`,
        },
      ],
      threats: [PHISHING],
      reason_codes: ["listed_phishing", "exposure_listed"],
    });
  });

  it("asks for the explanation of the very score that it shows", async () => {
    const asked: unknown[] = [];
    const fake = fakeApp({
      riskFacts: async (key) => {
        asked.push(key);
        return RISK_FACTS;
      },
    });
    await fake.app.request(PATH, WITH_KEY);
    expect(asked).toEqual([{ address: WALLET, scoreId: 7 }]);
  });

  it("knows nothing against a wallet never scored, and records no interest", async () => {
    const { body, read } = await risk(UNSCORED, {
      explanation: null,
      exposure: "not_followed",
      listedShare: 0,
    });
    expect(body).toMatchObject({
      risk_score: null,
      risk_level: "UNKNOWN",
      reason: "not_scored",
      signals: [],
      counterparty_exposure: null,
      counterparty_exposure_reason: "not_followed",
      ahs_score: null,
      grade: null,
      confidence: 0,
      confidence_level: "INSUFFICIENT",
      scored_at: null,
      stale: null,
      as_of_block: null,
    });
    expect(read).toEqual([]);
  });

  it("does not hold a short history against a wallet", async () => {
    const { score } = walletSnapshot();
    if (score === null) throw new Error("the fake standing has a score");
    const { body } = await risk({
      score: {
        ...score,
        ahsScore: null,
        grade: null,
        confidenceMicros: 150_000,
        confidenceLevel: "INSUFFICIENT",
      },
    });
    expect(body).toMatchObject({
      risk_score: null,
      risk_level: "UNKNOWN",
      reason: "insufficient_history",
      confidence: 0.15,
    });
  });

  it.each([
    ["scored well", {}],
    ["never scored", UNSCORED],
  ])("answers 100 and CRITICAL for a sanctioned wallet that was %s", async (_name, changes) => {
    const { body } = await risk({ ...changes, sanctions: [LISTING] });
    expect(body).toMatchObject({
      risk_score: 100,
      risk_level: "CRITICAL",
      reason: "sanctioned",
      sanctions_flags: [LISTING],
      ahs_score: 0,
      grade: "F",
      confidence: 1,
    });
  });

  it("says whom a wallet deals with, though its score was stored before that was known", async () => {
    const { exposure } = RISK_FACTS;
    if (typeof exposure === "string") throw new Error("the fake wallet has contacts");
    const { body } = await risk(
      {},
      {
        ...RISK_FACTS,
        exposure: { ...exposure, listed: [USDC] },
        listedShare: 0.5,
      },
    );
    expect(body).toMatchObject({
      risk_score: 46,
      risk_level: "HIGH",
      verdict: "High risk: 50% of its outgoing value went to 1 sanctioned or mixer account.",
      counterparty_exposure: { share: 0.5, listed_share: 0.5, failing_share: 0 },
    });
  });

  it("holds nothing against a wallet of which a listed counterparty is known and no payment to it", async () => {
    const { exposure } = RISK_FACTS;
    if (typeof exposure === "string") throw new Error("the fake wallet has contacts");
    const { body } = await risk({}, { ...RISK_FACTS, exposure: { ...exposure, listed: [USDC] } });
    expect(body).toMatchObject({
      risk_score: 16,
      verdict: "Low risk: no signal of risk was found.",
      signals: [{ name: "listed_counterparties", severity: "info" }],
    });
  });

  it("says that a score is stale", async () => {
    const { score } = walletSnapshot();
    if (score === null) throw new Error("the fake standing has a score");
    const { body } = await risk({
      score: { ...score, asOfTime: new Date(NOW.getTime() - 25 * 3_600_000) },
    });
    expect(body).toMatchObject({ stale: true, reason: "scored" });
  });
});
