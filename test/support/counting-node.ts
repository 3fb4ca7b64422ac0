import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { encodeAbiParameters, type Hex, zeroHash } from "viem";

type Call = { readonly id: number; readonly method: string; readonly params?: readonly unknown[] };

/** name(), version() and decimals() of a token of 6 decimals. */
const TOKEN: Readonly<Record<string, Hex>> = {
  "0x06fdde03": encodeAbiParameters([{ type: "string" }], ["USD Coin"]),
  "0x54fd4d50": encodeAbiParameters([{ type: "string" }], ["2"]),
  "0x313ce567": encodeAbiParameters([{ type: "uint8" }], [6]),
};

/** A node on loopback of a token in which no account has anything; `calls` holds the methods that it was asked. */
export async function startCountingNode() {
  const calls: string[] = [];
  const answer = ({ id, method, params }: Call) => {
    calls.push(method);
    return { jsonrpc: "2.0", id, result: resultOf(method, params) };
  };
  const server = createServer(async (request, response) => {
    const asked = JSON.parse(await text(request)) as Call | Call[];
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(Array.isArray(asked) ? asked.map(answer) : answer(asked)));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function resultOf(method: string, params: Call["params"]): unknown {
  if (method === "eth_call") return tokenAnswer(params);
  if (method === "eth_getBlockByNumber") return { number: "0x190", hash: zeroHash, transactions: [] };
  return method === "eth_getLogs" ? [] : "0x0";
}

function tokenAnswer(params: Call["params"]): Hex {
  const [call] = params ?? [];
  const data = typeof call === "object" && call !== null && "data" in call ? String(call.data) : "";
  return TOKEN[data.slice(0, 10)] ?? zeroHash;
}
