import { describe, expect, test } from "vitest";
import type { FetchAnswer } from "../../../../service/net/exchange.ts";
import {
  isAlive,
  judgeAnswer,
  readX402Challenge,
} from "../../../../service/registries/probes/judge-answer.ts";

const answer = (status: number, body = "", headers: Record<string, string> = {}): FetchAnswer => ({
  kind: "answered",
  status,
  headers: new Map(Object.entries(headers)),
  body: Buffer.from(body),
});
const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64");

const CHALLENGE = {
  x402Version: 2,
  resource: { url: "https://agent.example/x" },
  accepts: [
    {
      scheme: "exact",
      network: "eip155:8453",
      amount: "10000",
      asset: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
      payTo: "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
      maxTimeoutSeconds: 60,
      extra: { name: "USD Coin", version: "2" },
    },
  ],
};

test.each([
  [200, true],
  [204, true],
  [301, true],
  [400, true],
  [401, true],
  [402, true],
  [403, true],
  [404, false],
  [405, true],
  [410, false],
  [429, true],
  [500, false],
  [503, false],
  [599, false],
])("%i means up: %s", (status, alive) => {
  expect(isAlive(status)).toBe(alive);
});

describe("an A2A endpoint", () => {
  const card = { name: "k", url: "https://a.example/rpc", skills: [], version: "1" };
  test.each([
    ["a card up to 0.3", answer(200, JSON.stringify(card)), true],
    [
      "a card since 1.0",
      answer(200, JSON.stringify({ name: "k", skills: [], supportedInterfaces: [{ url: "u" }] })),
      true,
    ],
    ["a card that leads nowhere", answer(200, JSON.stringify({ name: "k", skills: [] })), false],
    ["a page", answer(200, "<!doctype html>"), false],
    ["an error told by 200", answer(200, '{"error":"x"}'), false],
    ["a refusal", answer(401), null],
    ["a redirect", answer(302), null],
  ])("with %s: %s", (_name, served, valid) => {
    expect(judgeAnswer("a2a", served).valid).toBe(valid);
  });
});

describe("an MCP endpoint", () => {
  const message = {
    jsonrpc: "2.0",
    id: 1,
    result: { protocolVersion: "2025-06-18", capabilities: {}, serverInfo: { name: "s", version: "1" } },
  };
  const stream = { "content-type": "text/event-stream; charset=utf-8" };
  test.each([
    ["its handshake in JSON", answer(200, JSON.stringify(message)), true],
    [
      "its handshake as an event",
      answer(200, `event: message\ndata: ${JSON.stringify(message)}\n\n`, stream),
      true,
    ],
    [
      "its handshake over two lines of data",
      answer(
        200,
        `data: {"jsonrpc":"2.0",\r\ndata: "id":1,"result":${JSON.stringify(message.result)}}\r\n\r\ndata: no`,
        stream,
      ),
      true,
    ],
    ["an error of JSON-RPC", answer(200, '{"jsonrpc":"2.0","id":1,"error":{"code":-32601}}'), false],
    ["a stream without data", answer(200, ": hello\n\n", stream), false],
    ["an agent card", answer(200, '{"name":"x","skills":[],"url":"u"}'), false],
    ["a method that it does not have", answer(405), null],
  ])("with %s: %s", (_name, served, valid) => {
    expect(judgeAnswer("mcp", served).valid).toBe(valid);
  });
});

describe("a request for payment", () => {
  const asked = (challenge: unknown) => answer(402, "{}", { "payment-required": base64(challenge) });
  test("is valid by its header, whatever the endpoint is", () => {
    expect(judgeAnswer("x402", asked(CHALLENGE))).toEqual({ valid: true, detail: null });
    expect(judgeAnswer("other", asked(CHALLENGE)).valid).toBe(true);
  });

  test("is nothing to judge without the header, but for who declared x402", () => {
    const v1 = answer(402, JSON.stringify({ x402Version: 1, accepts: [] }));
    expect(judgeAnswer("other", v1).valid).toBeNull();
    expect(judgeAnswer("x402", v1)).toEqual({
      valid: false,
      detail: "It asks for payment without an x402 v2 challenge.",
    });
  });

  const [offer] = CHALLENGE.accepts;
  test.each([
    ["version 1", { ...CHALLENGE, x402Version: 1 }, "x402Version does not fit"],
    ["no resource", { ...CHALLENGE, resource: undefined }, "resource does not fit"],
    ["no offer", { ...CHALLENGE, accepts: [] }, "accepts does not fit"],
    [
      "a network by name",
      { ...CHALLENGE, accepts: [{ ...offer, network: "base" }] },
      "accepts.0.network does not fit",
    ],
    [
      "an amount as a number",
      { ...CHALLENGE, accepts: [{ ...offer, amount: 10 }] },
      "accepts.0.amount does not fit",
    ],
    ["a list", [], "the challenge does not fit"],
  ])("with %s is broken", (_name, challenge, fault) => {
    expect(readX402Challenge(base64(challenge))).toBe(fault);
    expect(judgeAnswer("other", asked(challenge)).valid).toBe(false);
  });

  test.each(["", "{}", "!!!", "bm90IGpzb24="])("of %j is not valid", (header) => {
    expect(readX402Challenge(header)).toBe("the header is not base64 of JSON");
  });
});
