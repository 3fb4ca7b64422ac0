import type { Address } from "viem";
import { describe, expect, it } from "vitest";
import type { WalletSnapshot } from "../../../../service/scores/scores.ts";
import { PAYER, paidBy } from "../../access/paying-access.ts";
import { LISTING, standing, WALLET } from "../fake-ports.ts";
import { BY_KEY, bySignIn, policyApp } from "./policy-app.ts";

const OTHER: Address = "0x00000000000000000000000000000000000000b2";
const GRADES = { instant_grades: ["A", "B"], escrow_grades: ["C"] };

const { score } = standing();
if (score === null) throw new Error("the fake standing has a score");
const scored = (changes: Partial<typeof score>): Partial<WalletSnapshot> => ({
  score: { ...score, ...changes },
});
const UNSCORED: Partial<WalletSnapshot> = { score: null, followed: false };
const INSUFFICIENT = scored({ ahsScore: null, grade: null, confidenceLevel: "INSUFFICIENT" });
const LISTED: Partial<WalletSnapshot> = { sanctions: [LISTING] };

/** Policy, what is known of the wallet, and what the caller is told. */
const RULES: readonly (readonly [string, object, Partial<WalletSnapshot>, string, string, boolean])[] = [
  ["its own instant grades", { ...GRADES, instant_grades: ["A"] }, {}, "reject", "grade", false],
  ["its own escrow grades", { instant_grades: [], escrow_grades: ["B"] }, {}, "escrow", "grade", false],
  [
    "an override",
    { ...GRADES, confidence_overrides: { B: { HIGH: "reject" } } },
    {},
    "reject",
    "confidence_override",
    false,
  ],
  [
    "an override of another level",
    { ...GRADES, confidence_overrides: { B: { LOW: "reject" } } },
    {},
    "instant_settle",
    "grade",
    false,
  ],
  [
    "the allowlist",
    { ...GRADES, allowlist: [WALLET] },
    scored({ grade: "F" }),
    "instant_settle",
    "allowlist",
    true,
  ],
  [
    "the allowlist, unscored",
    { ...GRADES, allowlist: [WALLET] },
    UNSCORED,
    "instant_settle",
    "allowlist",
    true,
  ],
  [
    "another's place on the allowlist",
    { ...GRADES, allowlist: [OTHER] },
    scored({ grade: "F" }),
    "reject",
    "grade",
    false,
  ],
  [
    "sanctions before the allowlist",
    { ...GRADES, allowlist: [WALLET] },
    LISTED,
    "reject",
    "sanctioned",
    true,
  ],
  [
    "sanctions before insufficient_action",
    { ...GRADES, insufficient_action: "instant_settle" },
    { ...UNSCORED, ...LISTED },
    "reject",
    "sanctioned",
    false,
  ],
  [
    "insufficient_action, unscored",
    { ...GRADES, insufficient_action: "reject" },
    UNSCORED,
    "reject",
    "not_scored",
    false,
  ],
  [
    "insufficient_action, little history",
    { ...GRADES, insufficient_action: "instant_settle" },
    INSUFFICIENT,
    "instant_settle",
    "insufficient_history",
    false,
  ],
  [
    "no escrow for a grade",
    { ...GRADES, escrow_disabled: true },
    scored({ grade: "C" }),
    "reject",
    "escrow_disabled",
    false,
  ],
  [
    "no escrow for the unscored",
    { ...GRADES, escrow_disabled: true },
    UNSCORED,
    "reject",
    "escrow_disabled",
    false,
  ],
  [
    "no escrow by an override",
    { ...GRADES, escrow_disabled: true, confidence_overrides: { B: { HIGH: "escrow" } } },
    {},
    "reject",
    "escrow_disabled",
    false,
  ],
];

describe("GET /ahs/route/{address} by the caller's policy", () => {
  it.each(RULES)("decides by %s", async (_name, policy, known, action, reason, allowlisted) => {
    const { put, route } = policyApp({ standing: known });
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
