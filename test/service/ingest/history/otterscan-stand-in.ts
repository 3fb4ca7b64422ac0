import type { ServerResponse } from "node:http";
import { numberToHex } from "viem";
import { startLoopbackServer } from "../../../support/loopback-server.ts";
import type { WireRow } from "./explorer-stand-in.ts";
import { WALLET } from "./simulated-chain.ts";

export type Question = { readonly method: string; readonly params: readonly unknown[] };

/** Answers the question itself by returning true; otherwise the honest answer, or another in its place, is sent. */
export type NodeMisbehaviour = (
  honest: object,
  question: Question,
  response: ServerResponse,
) => object | true;

export type NodeStandIn = {
  readonly url: string;
  readonly asked: readonly Question[];
  readonly close: () => Promise<void>;
};

/**
 * A scripted node with the Otterscan methods. Its transactions are the wallet's rows, at most one per block. It
 * knows every block by the hash of `hashOf`, and misbehaves as the script says.
 */
export async function startOtterscanStandIn(
  { rows, hashOf }: { readonly rows: readonly WireRow[]; readonly hashOf: (block: number) => string },
  misbehave: NodeMisbehaviour = (honest) => honest,
): Promise<NodeStandIn> {
  const asked: Question[] = [];
  const { origin, close } = await startLoopbackServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const question = JSON.parse(body) as Question;
    asked.push(question);
    const honest = honestAnswer(question, { rows, hashOf });
    const answer = misbehave(honest, question, response);
    if (answer === true) return;
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id: 1, ...answer }));
  });
  return { url: origin, asked, close };
}

/** Whether it is asked for a page of transactions. */
export function isPage({ method }: Question): boolean {
  return method === "ots_searchTransactionsBefore";
}

function honestAnswer(
  { method, params }: Question,
  chain: { readonly rows: readonly WireRow[]; readonly hashOf: (block: number) => string },
): object {
  switch (method) {
    case "eth_getBlockByNumber":
      return { result: { hash: chain.hashOf(Number(params[0])) } };
    case "eth_getTransactionCount":
      return { result: numberToHex(upTo(chain.rows, Number(params[1]) + 1).length) };
    case "eth_getCode":
      return { result: "0x" };
    case "ots_searchTransactionsBefore": {
      const older = upTo(chain.rows, Number(params[1])).toReversed();
      const page = older.slice(0, Number(params[2]));
      return {
        result: {
          txs: page.map(transactionOf),
          receipts: page.map(receiptOf),
          firstPage: false,
          lastPage: page.length === older.length,
        },
      };
    }
    default:
      return { error: { code: -32601, message: "no such method" } };
  }
}

function upTo(rows: readonly WireRow[], before: number): readonly WireRow[] {
  return rows.filter((row) => Number(row.blockNumber) < before);
}

function transactionOf(row: WireRow) {
  const quantity = (name: string) => numberToHex(BigInt(row[name] ?? ""));
  return {
    hash: row.hash,
    blockNumber: quantity("blockNumber"),
    from: WALLET,
    to: row.to,
    input: row.input,
    nonce: quantity("nonce"),
    transactionIndex: quantity("transactionIndex"),
    value: quantity("value"),
    gas: quantity("gas"),
  };
}

function receiptOf(row: WireRow) {
  const quantity = (name: string) => numberToHex(BigInt(row[name] ?? ""));
  return {
    transactionHash: row.hash,
    timestamp: quantity("timeStamp"),
    status: quantity("txreceipt_status"),
    gasUsed: quantity("gasUsed"),
    effectiveGasPrice: quantity("gasPrice"),
  };
}
