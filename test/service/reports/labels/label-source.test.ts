import type { ServerResponse } from "node:http";
import type { Address } from "viem";
import { afterEach, describe, expect, it } from "vitest";
import {
  createBreakingSource,
  createNansenSource,
  type FoundLabels,
  type LabelFailure,
  labelFailure,
} from "../../../../service/reports/labels/label-source.ts";
import { json, startProviderStandIn } from "./provider-stand-in.ts";

const WALLET: Address = "0x9965507d1a55bcc2695c58ba16fb37d819b0a4dc";
const ends: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

async function readFrom(
  answer: (response: ServerResponse) => void,
  { apiKey = "a-key" as string | null, deadlineMs = 20_000 } = {},
) {
  const standIn = await startProviderStandIn(answer);
  ends.push(standIn.close);
  const source = createNansenSource({ url: standIn.url, apiKey, provider: "nansen", deadlineMs });
  return { ...standIn, found: await source.read(WALLET) };
}

const TWO = [
  { label: "High Activity", category: "others", definition: "Frequent transactions", smEarnedDate: null },
  { label: "Dex Trader", fullname: "trader.eth" },
];
const READ = {
  kind: "labels",
  labels: [
    { label: "High Activity", category: "others" },
    { label: "Dex Trader", category: null },
  ],
};

describe("labels of a provider", () => {
  it("are asked for with the key, for one account of any chain", async () => {
    const { asked, found } = await readFrom(json({ data: TWO }));
    expect(found).toEqual(READ);
    expect(asked).toEqual([
      {
        method: "POST",
        headers: expect.objectContaining({ apikey: "a-key", "content-type": "application/json" }),
        body: { address: WALLET, chain: "all", pagination: { page: 1, per_page: 100 } },
      },
    ]);
  });

  it("are understood as a bare list as well", async () => {
    expect((await readFrom(json(TWO))).found).toEqual(READ);
  });

  it("may be an empty list, which is an answer", async () => {
    expect((await readFrom(json({ data: [] }))).found).toEqual({ kind: "labels", labels: [] });
  });

  it("need no key where none is set", async () => {
    const { asked } = await readFrom(json([]), { apiKey: null });
    expect(asked[0]?.headers).not.toHaveProperty("apikey");
  });

  it("are fit to be shown, and a hundred at most", async () => {
    const odd = [
      { label: "\u202ehidden\u0000\n name", category: " \u200b" },
      { label: "\u0007", category: "x" },
    ];
    const many = Array.from({ length: 150 }, (_, place) => ({ label: `label ${place}` }));
    expect((await readFrom(json(odd))).found).toEqual({
      kind: "labels",
      labels: [{ label: "hidden name", category: null }],
    });
    expect((await readFrom(json(many))).found).toMatchObject({ labels: { length: 100 } });
  });

  it.each([
    ["refused", 401, "HTTP status 401"],
    ["refused", 404, "HTTP status 404"],
    ["rate_limited", 429, "HTTP status 429"],
    ["unavailable", 503, "HTTP status 503"],
    ["unavailable", 408, "HTTP status 408"],
  ])("are %s by a provider that answers %i", async (reason, status, detail) => {
    const { found } = await readFrom(json({ error: "the key a-key" }, status));
    expect(found).toEqual({ kind: "failed", reason, detail });
  });

  it.each([
    ["no JSON", (response: ServerResponse) => response.end("<html>")],
    ["no list", json({ data: "none" })],
    ["entries of another shape", json([{ name: "x" }])],
    [
      "an answer without an end in sight",
      (response: ServerResponse) => response.end(JSON.stringify("x".repeat(300_000))),
    ],
  ])("are malformed in %s", async (_name, answer) => {
    expect((await readFrom(answer)).found).toMatchObject({ kind: "failed", reason: "malformed" });
  });

  it("time out when the provider does not answer, or not to the end", async () => {
    const { found: silent } = await readFrom(() => undefined, { deadlineMs: 100 });
    const { found: halting } = await readFrom((response) => response.write("[{"), { deadlineMs: 100 });
    expect([silent, halting]).toMatchObject([{ reason: "timeout" }, { reason: "timeout" }]);
  });

  it("are not followed elsewhere: a redirect would take the key along", async () => {
    const { found, asked } = await readFrom((response) =>
      response.writeHead(307, { location: "https://elsewhere.example/" }).end(),
    );
    expect([found, asked.length]).toMatchObject([{ reason: "unconnected" }, 1]);
  });

  it("are missing where no server listens, with a reason without the URL", async () => {
    const source = createNansenSource({
      provider: "nansen",
      url: "http://127.0.0.1:1/labels",
      apiKey: "a-key",
      deadlineMs: 1_000,
    });
    expect(await source.read(WALLET)).toEqual({
      kind: "failed",
      reason: "unconnected",
      detail: expect.stringMatching(/^the connection failed: /),
    });
  });
});

const DOWN = labelFailure("unavailable", "HTTP status 503");
const NONE: FoundLabels = { kind: "labels", labels: [] };

function sourceOf(answers: readonly (FoundLabels | LabelFailure)[], pauseMs = 30_000) {
  let asked = 0;
  const read = async () => answers[Math.min(asked++, answers.length - 1)] ?? DOWN;
  const breaking = createBreakingSource({ provider: "vendor", read }, { failures: 3, pauseMs });
  const outcomes = async (times: number) => {
    const found: string[] = [];
    for (let time = 0; time < times; time += 1) {
      const answer = await breaking.read(WALLET);
      found.push(answer.kind === "failed" ? answer.reason : answer.kind);
    }
    return found;
  };
  return { outcomes, asked: () => asked };
}

describe("a provider", () => {
  it("is left alone after so many failures in a row", async () => {
    const { outcomes, asked } = sourceOf([DOWN]);
    expect(await outcomes(5)).toEqual(["unavailable", "unavailable", "unavailable", "broken", "broken"]);
    expect(asked()).toBe(3);
  });

  it("counts its failures anew after an answer", async () => {
    const { outcomes, asked } = sourceOf([DOWN, DOWN, NONE, DOWN, DOWN, NONE]);
    expect(await outcomes(6)).not.toContain("broken");
    expect(asked()).toBe(6);
  });

  it("is tried by one request after the pause", async () => {
    const { outcomes, asked } = sourceOf([DOWN, DOWN, DOWN, DOWN, NONE], 20);
    await outcomes(3);
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(await outcomes(2)).toEqual(["unavailable", "broken"]);
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(await outcomes(2)).toEqual(["labels", "labels"]);
    expect(asked()).toBe(6);
  });
});
