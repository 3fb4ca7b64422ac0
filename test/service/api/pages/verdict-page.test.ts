import { describe, expect, test } from "vitest";
import { createVerificationApp } from "../../../../service/api/create-verification-app.ts";
import type { VerdictView } from "../../../../service/verification/verdicts/verdict-view.ts";
import { NOW } from "../fake-ports.ts";
import {
  bothPorts,
  pendingView,
  VERDICT_ID,
  verdictResult,
  verdictView,
} from "../verification/fake-verification-ports.ts";
import { fakeAccountPages } from "./fake-account-pages.ts";

let shown: VerdictView = verdictView();
const { verdicts } = bothPorts();
/** One app for all tests: what its documents take to make is much more than a page. */
const app = createVerificationApp(
  bothPorts({
    pages: fakeAccountPages({
      verdicts: { ...verdicts, find: async (id) => (id === shown.id ? shown : null) },
    }),
  }),
);

async function open(view: VerdictView, query = "", id = VERDICT_ID) {
  shown = view;
  const response = await app.request(`/verdict/${id}${query}`);
  return { response, html: await response.text() };
}

describe("the page of a verdict", () => {
  test("shows the decision, why it was made, and how to check it, and is not cached", async () => {
    const { response, html } = await open(verdictView());
    expect([response.status, response.headers.get("cache-control"), response.headers.get("refresh")]).toEqual(
      [200, "private, no-store", null],
    );
    for (const words of [
      "<title>ALLOW · verdict 7c9e6679 · Agent Health</title>",
      "The delivery matches the order.",
      "86 of 100",
      "88%",
      "0.06 of 1",
      "It has ten rows.",
      "1.62, the evidence checker’s of a second model",
      "40.50 USD; above 25.00 USD it needs all four votes, above 1,000.00 USD that of a second model",
      `/v1/verdicts/${VERDICT_ID}/evidence`,
      `/v1/verdicts/${VERDICT_ID}/receipt`,
    ])
      expect(html).toContain(words);
  });

  test("of a decision from before panel-2026.1 names no votes", async () => {
    const result = verdictResult();
    const { voting, ...methodology } = result.methodology;
    const { html } = await open(verdictView({ result: { ...result, methodology } }));
    expect(html).not.toContain("Effective votes");
    expect(html).toContain("panel-2026.1");
  });

  test("names roles as people call them, also where the panel quotes their ids", async () => {
    const result = verdictResult({ strongest_dissent: "criteria_auditor gives 6, 8 is the mean." });
    const { html } = await open(verdictView({ result }));
    expect(html).toContain("<bdi>Criteria auditor gives 6, 8 is the mean.</bdi>");
  });

  test("shows what models and clients wrote as text of bounded length", async () => {
    const hostile = `</blockquote><script>alert(1)</script>\u202e${"a".repeat(10_000)}`;
    const result = verdictResult({
      reasoning: hostile,
      strongest_dissent: hostile,
      met_criteria: [hostile],
      unmet_criteria: Array.from({ length: 500 }, () => hostile),
      key_objections: [hostile],
      review: { reviewed_by: hostile, reason: hostile },
    });
    const { html } = await open(verdictView({ result }));
    expect(html).not.toContain("<script>alert");
    expect(html).not.toContain("\u202e");
    expect(html).toContain("&lt;script&gt;alert(1)&lt;/script&gt;");
    expect(html).toContain("and 460 more");
    expect(html.length).toBeLessThan(60_000);
  });

  test("says how far each role is while the panel works", async () => {
    const progress = [
      { role: "criteria_auditor", status: "answered" },
      { role: "critic", status: "asked" },
      { role: "synthesiser", status: "waiting" },
    ] as const;
    const rows = [
      "<dt>Criteria auditor</dt><dd>has answered</dd>",
      "<dt>Critic</dt><dd>is judging</dd>",
      "<dt>Synthesiser</dt><dd>not asked yet</dd>",
    ];
    const first = await open(pendingView({ status: "processing", progress }));
    for (const row of rows) expect(first.html).toContain(row);
    const rerun = { cause: "evidence", status: "processing" } as const;
    const again = await open(verdictView({ rerun, progress }));
    for (const row of rows) expect(again.html).toContain(row);
    expect((await open(verdictView())).html).not.toContain("Roles of the panel");
  });

  test("looks again by itself while it waits, a bounded number of times, and stops when asked", async () => {
    const refreshOf = async (query: string, view = pendingView()) =>
      (await open(view, query)).response.headers.get("refresh");
    expect(await refreshOf("")).toBe(`5; url=/verdict/${VERDICT_ID}?looks=1`);
    expect(await refreshOf("?looks=41")).toBe(`5; url=/verdict/${VERDICT_ID}?looks=42`);
    expect(await refreshOf("?looks=120")).toBeNull();
    expect(await refreshOf("?looks=stop")).toBeNull();
    expect(await refreshOf("?looks=5%3B%20url%3Dhttps%3A%2F%2Fevil.example")).toBeNull();
    const rerun = verdictView({ rerun: { cause: "evidence", status: "pending" } });
    expect(await refreshOf("", rerun)).not.toBeNull();
  });

  test("explains a hold and a failure", async () => {
    const held = await open(verdictView({ result: verdictResult({ final_verdict: "HOLD" }) }));
    expect(held.html).toContain("This is not a rejection.");
    expect(held.html).toContain("The submitter, the client and the provider can submit evidence");
    const again = {
      run: 2,
      cause: "evidence",
      finalVerdict: "HOLD",
      evidenceHash: `0x${"88".repeat(32)}`,
      createdAt: NOW,
    } as const;
    const spent = await open(
      verdictView({
        runs: [...verdictView().runs, again],
        result: verdictResult({ final_verdict: "HOLD" }),
      }),
    );
    expect(spent.html).not.toContain("can submit evidence");
    const failed = await open(
      pendingView({ status: "failed", errorMessage: "The panel gave too few answers." }),
    );
    expect(failed.html).toContain("The panel could not decide");
    expect(failed.html).toContain("The panel gave too few answers.");
  });

  test("is there where outputs are verified alone, beside the status, and no page of scores or keys", async () => {
    const statusOf = async (path: string) => (await app.request(path)).status;
    expect(await Promise.all([`/verdict/${VERDICT_ID}`, "/status"].map(statusOf))).toEqual([200, 200]);
    expect(await Promise.all(["/", "/leaderboard", "/account", "/account/topup"].map(statusOf))).toEqual([
      404, 404, 404, 404,
    ]);
  });

  test("says in words that there is no such verdict", async () => {
    for (const id of ["none", "00000000-0000-4000-8000-000000000000"]) {
      const { response, html } = await open(verdictView(), "", id);
      expect([response.status, response.headers.get("content-type")]).toEqual([
        404,
        "text/html; charset=utf-8",
      ]);
      expect(html).toContain(`There is no verdict “${id}”.`);
    }
  });
});
