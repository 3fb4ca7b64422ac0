import { beforeEach, describe, expect, test } from "vitest";
import { SCORING_INTERFACE } from "../../../../service/api/create-app.ts";
import { createInterfaceApp } from "../../../../service/api/create-interface.ts";
import { VERIFICATION_INTERFACE } from "../../../../service/api/create-verification-app.ts";
import { getKeysSelf } from "../../../../service/api/routes/get-keys-self.ts";
import { fakeLedger, KEY } from "../fake-ports.ts";
import { KEY_ID } from "../routes/fake-key-ports.ts";
import {
  bothPorts,
  VERDICT_ID,
  verdictResult,
  verdictView,
} from "../verification/fake-verification-ports.ts";
import { fakeAccountPages } from "./fake-account-pages.ts";

const JOB = { chainId: 31_337, escrow: `0x${"e5".repeat(20)}`, jobId: 7n } as const;
const PATH = `/verdict/${VERDICT_ID}`;
const SIGNED_IN = { cookie: `__Host-ahs_key=${KEY}` };
const sent: unknown[] = [];
const rerunAt = new Date("2026-11-20T10:10:00.000Z");
let scopes: readonly "review"[] = [];
let owner = `key:${KEY_ID}`;

let shown: () => ReturnType<typeof verdictView> = () => verdictView();
const held = () => verdictView({ owner, result: verdictResult({ final_verdict: "HOLD" }) });
const appealBy = new Date("2026-11-20T10:10:00.000Z");
const terms = { appealBy, decideBy: new Date("2026-11-20T11:10:00.000Z"), units: 1_250 };
/** A verdict of a job in its time to appeal. */
const appealable = () =>
  verdictView({
    owner,
    appeal: { state: "window", run: 1, appellant: null, ...terms },
    namedJob: { ...JOB, isBound: true },
    settlement: { ...JOB, status: "appealable", txHash: null, reviewBy: null, reason: null, signed: null },
  });
const pages = fakeAccountPages();
/** One app for all tests: its documents take longer than a page. */
const app = createInterfaceApp(
  bothPorts(
    {
      pages: {
        ...pages,
        verdicts: { ...pages.verdicts, find: async () => shown() },
        account: {
          ...pages.account,
          keySummary: async () => ({ scopes, lastChargedAt: null, subscriptions: [] }),
        },
      },
      verdicts: { ...bothPorts().verdicts, find: async () => shown() },
      acceptEvidence: async (offer) => {
        sent.push(offer);
        return offer.text === "late"
          ? { kind: "used-up" }
          : { kind: "kept", textHash: `0x${"99".repeat(32)}`, count: 1, rerunAt };
      },
      appeals: {
        ...bothPorts().appeals,
        offer: async () => ({ kind: "open", appellant: "submitter", units: terms.units }),
        open: async (verdictId) => {
          sent.push({ appealed: verdictId });
          return { state: "open", decideBy: terms.decideBy };
        },
      },
      recordReview: async (review) => {
        sent.push(review);
        return { kind: "recorded", run: 2, evidenceHash: `0x${"99".repeat(32)}` };
      },
    },
    fakeLedger({ id: KEY_ID }),
  ),
  [{ ...SCORING_INTERFACE, endpoints: [getKeysSelf] }, VERIFICATION_INTERFACE],
);
async function open(headers: Readonly<Record<string, string>> = SIGNED_IN): Promise<string> {
  return (await app.request(PATH, { headers })).text();
}

function post(fields: Readonly<Record<string, string>>, headers = SIGNED_IN): Promise<Response> {
  const own = { origin: "https://health.example", "sec-fetch-site": "same-origin" };
  const type = { "content-type": "application/x-www-form-urlencoded" };
  const body = new URLSearchParams({ once: "e-once-0123456789", ...fields }).toString();
  return Promise.resolve(
    app.request(PATH, { method: "POST", headers: { ...type, ...own, ...headers }, body }),
  );
}

describe("the page of a verdict on HOLD", () => {
  beforeEach(() => {
    shown = held;
  });

  test("takes evidence from the key that submitted the output, and shows it what was ordered", async () => {
    const html = await open();
    expect(html).toContain("<bdi>Ten rows, please.</bdi>");
    expect(html).toContain("Submit the evidence</button>");
    expect(html).not.toContain("Decide as a reviewer");
    const taken = await post({ action: "evidence", text: "They are ten.", final: "on" });
    expect([taken.status, taken.headers.get("location")]).toEqual([303, PATH]);
    expect(sent.splice(0)).toEqual([
      { verdictId: VERDICT_ID, owner: `key:${KEY_ID}`, text: "They are ten.", isFinal: true },
    ]);
    const refused = await post({ action: "evidence", once: "e-once-late-0123", text: "late" });
    expect(refused.status).toBe(409);
    expect(await refused.text()).toContain("The form was not accepted.");
    sent.splice(0);
  });

  test("takes a decision from a reviewer's key", async () => {
    scopes = ["review"];
    expect(await open()).toContain("Decide as a reviewer");
    const taken = await post({
      action: "review",
      once: "r-once-0123456789",
      decision: "ALLOW",
      reason: "Fine.",
    });
    scopes = [];
    expect(taken.status).toBe(303);
    expect(sent.splice(0)).toMatchObject([{ verdictId: VERDICT_ID, decision: "ALLOW", reason: "Fine." }]);
  });

  test("has no form, and nothing of the order, for others", async () => {
    owner = "key:another";
    for (const html of [await open(), await open({})]) {
      expect(html).not.toContain("Ten rows, please.");
      expect(html).not.toMatch(/<textarea|Decide as a reviewer/);
      expect(html).toContain("can submit evidence");
    }
    owner = `key:${KEY_ID}`;
    expect((await post({ action: "evidence", text: "x" }, { cookie: "" })).status).toBe(401);
    expect((await post({ action: "else" })).status).toBe(400);
    expect(sent).toEqual([]);
  });
});

describe("the page of a verdict in its time to appeal", () => {
  beforeEach(() => {
    owner = `key:${KEY_ID}`;
    shown = appealable;
  });

  test("sells an appeal to the key that submitted the output", async () => {
    const html = await open();
    expect(html).toContain("Appeal for 1.25 USD</button>");
    expect(html).toContain('<input type="hidden" name="price" value="1.250">');
    expect(html).toContain('datetime="2026-11-20T10:10:00.000Z"');
    const sold = await post({ action: "appeal", price: "1.250", once: "a-once-0123456789" });
    expect([sold.status, sold.headers.get("location")]).toEqual([303, PATH]);
    expect(sent.splice(0)).toEqual([{ appealed: VERDICT_ID }]);
  });

  test("says to others who can appeal, until when and how", async () => {
    const html = await open({});
    expect(html).not.toContain("Appeal for");
    expect(html).toContain("The submitter, the client and the provider can appeal this decision");
    expect(html).toContain(`POST /v1/verdicts/${VERDICT_ID}/appeal?price_usd=1.250`);
  });

  test.each([
    ["open", "A second panel, of another model, judges the output."],
    ["overturned", "The second panel decided the opposite, which is valid."],
    ["held", "The second panel decided HOLD, so the first decision is valid."],
    ["failed", "The price went back"],
  ] as const)("and then shows an appeal that is %s", async (state, words) => {
    shown = () => ({ ...appealable(), appeal: { state, run: 1, appellant: "provider", ...terms } });
    const html = await open();
    expect(html).toContain(words);
    expect(html).toContain("by the provider");
    expect(html).not.toContain('</button></form></section>\n<dl class="stats"');
  });
});
