import type { ServerResponse } from "node:http";
import { pad, toHex } from "viem";
import { startLoopbackServer } from "../../../support/loopback-server.ts";
import { WALLET } from "./simulated-chain.ts";

/** A row as Etherscan's txlist has it: every member a string. */
export type WireRow = Readonly<Record<string, string>>;

export type StandIn = {
  /** Always in the query, as a chain id is with Etherscan. */
  readonly url: string;
  /** Queries in the order of their arrival. */
  readonly asked: readonly URLSearchParams[];
  readonly close: () => Promise<void>;
};

/** The explorer's own envelope, or the node's where a question is passed on to it. */
type WireAnswer =
  | { readonly status: string; readonly message: string; readonly result: unknown }
  | { readonly status?: never; readonly jsonrpc: string; readonly id: number; readonly result: unknown };

/** Answers the query itself by returning true; otherwise the honest answer, or another in its place, is sent. */
export type Misbehaviour = (
  honest: WireAnswer,
  query: URLSearchParams,
  response: ServerResponse,
) => WireAnswer | true;

const SECONDS_PER_BLOCK = 12;
const FIRST_BLOCK_TIME = 1_700_000_000;

/** Time of a block of the scripted explorer's chain, in unix seconds. */
export function timeOfBlock(block: number): number {
  return FIRST_BLOCK_TIME + SECONDS_PER_BLOCK * block;
}

/** One call of the wallet per block from block 1 on; some members may be given otherwise. */
export function wireRow(block: number, given: WireRow = {}): WireRow {
  return {
    blockNumber: String(block),
    blockHash: pad(toHex(block), { size: 32 }),
    timeStamp: String(timeOfBlock(block)),
    hash: pad(toHex(block), { size: 32 }),
    nonce: String(block - 1),
    transactionIndex: "3",
    from: WALLET,
    to: "0x2222222222222222222222222222222222222222",
    value: "5",
    gas: "100000",
    gasPrice: "7",
    gasUsed: "60000",
    cumulativeGasUsed: "900000",
    input: "0xA9059cbb00000000",
    methodId: "0xa9059cbb",
    functionName: "transfer(address,uint256)",
    contractAddress: "",
    isError: "0",
    txreceipt_status: "1",
    confirmations: "12",
    ...given,
  };
}

/**
 * A scripted explorer. It speaks the part of Etherscan's wire protocol that we use, over these rows, and misbehaves
 * as the script says.
 */
export async function startExplorerStandIn(
  rows: readonly WireRow[],
  misbehave: Misbehaviour = (honest) => honest,
): Promise<StandIn> {
  const asked: URLSearchParams[] = [];
  const { origin, close } = await startLoopbackServer((request, response) => {
    const query = new URL(request.url ?? "", "http://localhost").searchParams;
    asked.push(query);
    const answer = misbehave(honestAnswer(rows, query), query, response);
    if (answer === true) return;
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
  });
  return { url: `${origin}/api?chainid=31337`, asked, close };
}

/** Whether it is asked for transactions, and not for its reach. */
export function isList(query: URLSearchParams): boolean {
  return query.get("action") === "txlist";
}

function honestAnswer(rows: readonly WireRow[], query: URLSearchParams): WireAnswer {
  const number = (name: string) => Number(query.get(name));
  if (query.get("module") === "block" && query.get("action") === "getblocknobytime") {
    const block = Math.floor((number("timestamp") - FIRST_BLOCK_TIME) / SECONDS_PER_BLOCK);
    return { status: "1", message: "OK", result: String(block) };
  }
  if (query.get("module") === "proxy" && query.get("action") === "eth_getCode") {
    return { jsonrpc: "2.0", id: 1, result: "0x" };
  }
  if (query.get("module") !== "account" || !isList(query) || query.get("sort") !== "desc") {
    return { status: "0", message: "NOTOK", result: "Error! Missing Or invalid Action name" };
  }
  const isInside = (block: number) => block >= number("startblock") && block <= number("endblock");
  const inside = rows
    .filter((row) => isInside(Number(row.blockNumber)))
    .toSorted((a, b) => Number(b.blockNumber) - Number(a.blockNumber));
  const page = inside.slice((number("page") - 1) * number("offset"), number("page") * number("offset"));
  return page.length === 0
    ? { status: "0", message: "No transactions found", result: [] }
    : { status: "1", message: "OK", result: page };
}
