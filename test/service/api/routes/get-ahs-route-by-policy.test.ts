import { describe, expect, it } from "vitest";
import type { WalletSnapshot } from "../../../../service/scores/stored-score.ts";
import { PAYER, paidBy } from "../../access/paying-access.ts";
import { LISTING, PHISHING, WALLET, walletSnapshot } from "../fake-ports.ts";
import { BY_KEY, bySignIn, policyApp } from "./policy-app.ts";

const GRADES = { instant_grades: ["A", "B"], escrow_grades: ["C"] };

const { score } = walletSnapshot();
if (score === null) throw new Error("the fake standing has a score");
const scored = (changes: Partial<typeof score>): Partial<WalletSnapshot> => ({
  score: { ...score, ...changes },
});
const UNSCORED: Partial<WalletSnapshot> = { score: null, followed: false };
const INSUFFICIENT = scored({ ahsScore: null, grade: null, confidenceLevel: "INSUFFICIENT" });
const LISTED: Partial<WalletSnapshot> = { sanctions: [LISTING] };

const ALLOWED = { ...GRADES, allowlist: [WALLET] };
const CLOSED = { ...GRADES, escrow_disabled: true };
const OVERRIDDEN = { ...GRADES, confidence_overrides: { B: { HIGH: "reject" } } };
const CAUTIOUS = { ...GRADES, threat_action: "escrow" };
const STRICT = { ...GRADES, insufficient_action: "reject" };

/** A policy, the stored state of the wallet and the answer: one rule for each member; route.test.ts has them all. */
const RULES: readonly (readonly [string, object, Partial<WalletSnapshot>, string, string, boolean])[] = [
  ["its own grades", { instant_grades: [], escrow_grades: ["B"] }, {}, "escrow", "grade", false],
  ["an override", OVERRIDDEN, {}, "reject", "confidence_override", false],
  ["the allowlist", ALLOWED, scored({ grade: "F" }), "instant_settle", "allowlist", true],
  ["the allowlist, unscored", ALLOWED, UNSCORED, "instant_settle", "allowlist", true],
  ["sanctions before the allowlist", ALLOWED, LISTED, "reject", "sanctioned", true],
  ["insufficient_action, unscored", STRICT, UNSCORED, "reject", "not_scored", false],
  ["insufficient_action, little history", STRICT, INSUFFICIENT, "reject", "insufficient_history", false],
  ["threat_action", CAUTIOUS, { threats: [PHISHING] }, "escrow", "threat_listed", false],
  ["no escrow", CLOSED, scored({ grade: "C" }), "reject", "escrow_disabled", false],
];

describe("GET /ahs/route/{address} by the caller's policy", () => {
  it.each(RULES)("decides by %s", async (_name, policy, known, action, reason, allowlisted) => {
    const { put, route } = policyApp({ snapshot: known });
    expect((await put(policy)).status).toBe(200);
    const response = await route(WALLET);
    expect([response.status, await response.json()]).toMatchObject([
      200,
      { action, routing_recommendation: action, reason, policy_applied: true, allowlisted },
    ]);
  });

  it("uses the policy of the wallet that pays, which it set by signing in", async () => {
    const { put, route } = policyApp();
    await put({ ...GRADES, instant_grades: [], escrow_grades: ["B"] }, await bySignIn());
    const paid = await (await route(WALLET, paidBy(1))).json();
    const byKey = await (await route(WALLET, BY_KEY)).json();
    expect([paid, byKey]).toMatchObject([
      { action: "escrow", policy_applied: true },
      { action: "instant_settle", policy_applied: false },
    ]);
  });

  it("uses the key's where a request brings key and payment", async () => {
    const { put, route } = policyApp({ own: [PAYER] });
    await put({ ...GRADES, instant_grades: [], escrow_grades: ["B"] });
    expect(await (await route(WALLET, { ...BY_KEY, ...paidBy(1) })).json()).toMatchObject({
      action: "escrow",
    });
  });

  it("decides by a new policy from the next call on", async () => {
    const { put, route } = policyApp();
    const actions = [];
    for (const grades of [["A", "B"], [], ["B"]]) {
      await put({ instant_grades: grades, escrow_grades: [] });
      actions.push(Reflect.get(Object(await (await route(WALLET)).json()), "action"));
    }
    expect(actions).toEqual(["instant_settle", "reject", "instant_settle"]);
  });
});
