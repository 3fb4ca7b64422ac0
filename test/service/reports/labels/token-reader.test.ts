import type { IncomingMessage, ServerResponse } from "node:http";
import { encodeAbiParameters, type Hex, stringToHex } from "viem";
import { expect, test } from "vitest";
import { createTokenReader } from "../../../../service/reports/labels/token-reader.ts";
import { startLoopbackServer } from "../../../support/loopback-server.ts";
import { account } from "../../model/features/histories.ts";

const text = (symbol: string) => encodeAbiParameters([{ type: "string" }], [symbol]);
const number = (value: bigint) => encodeAbiParameters([{ type: "uint256" }], [value]);

/** Answers of the contracts to symbol() and decimals(); null reverts. */
const TOKENS: Readonly<Record<string, readonly [Hex | null, Hex | null]>> = {
  [account(1)]: [text("MOON"), number(9n)],
  [account(2)]: [stringToHex("MKR", { size: 32 }), number(18n)],
  [account(3)]: [text("\u202e".concat("x".repeat(500))), number(1n << 200n)],
  [account(4)]: [null, null],
  [account(5)]: ["0x", "0x"],
};

test("reads symbols and decimals once a day, bounded, and null where a contract has none", async () => {
  let asked = 0;
  const server = await startLoopbackServer((request, response) => {
    void answer(request, response);
  });
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    asked += 1;
    const body = JSON.parse(await bodyOf(request));
    const [{ to, data }] = body.params;
    const [symbol, decimals] = TOKENS[to] ?? [null, null];
    const result = data === "0x95d89b41" ? symbol : decimals;
    const error = { code: 3, message: "execution reverted", data: "0x" };
    response.setHeader("content-type", "application/json");
    response.end(
      JSON.stringify({ jsonrpc: "2.0", id: body.id, ...(result === null ? { error } : { result }) }),
    );
  }
  const read = createTokenReader({ url: server.origin, timeoutMs: 30_000, monotonicMs: () => 0 });
  const tokens = [1, 2, 3, 4, 5, 1].map(account);
  const expected = new Map([
    [account(1), { symbol: "MOON", decimals: 9 }],
    [account(2), { symbol: "MKR", decimals: 18 }],
    [account(3), { symbol: "x".repeat(20), decimals: null }],
    [account(4), { symbol: null, decimals: null }],
    [account(5), { symbol: null, decimals: null }],
  ]);
  expect(await read(tokens)).toEqual(expected);
  expect(await read(tokens)).toEqual(expected);
  expect(asked).toBe(10);
  await server.close();
  expect(await read([account(6)])).toEqual(new Map());
});

async function bodyOf(request: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts).toString("utf8");
}

test("asks again for a token that a node in trouble gave no answer for", async () => {
  const troubles = [
    [503, { code: -32011, message: "no backend is currently healthy to serve traffic" }],
    [200, { code: -32012, message: "credits limited to 6000/sec" }],
    [400, { code: -32019, message: "block is out of range" }],
    [200, { code: -32000, message: "missing trie node 12 (path )" }],
    [200, { code: -32000, message: "not today" }],
  ] as const;
  let pass = 0;
  const server = await startLoopbackServer((request, response) => {
    void bodyOf(request).then((body) => {
      const { id, params } = JSON.parse(body);
      const [status, error] = troubles[pass] ?? [200, null];
      const result = TOKENS[account(1)]?.[params[0].data === "0x95d89b41" ? 0 : 1];
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify({ jsonrpc: "2.0", id, ...(error === null ? { result } : { error }) }));
    });
  });
  const read = createTokenReader({ url: server.origin, timeoutMs: 30_000, monotonicMs: () => 0 });
  for (; pass < troubles.length; pass += 1) expect(await read([account(1)])).toEqual(new Map());
  expect(await read([account(1)])).toEqual(new Map([[account(1), { symbol: "MOON", decimals: 9 }]]));
  await server.close();
});
