import { type Hex, numberToHex } from "viem";
import { type FaultOf, type HistoryServer, serveAnswers } from "./http-server.ts";
import { listOf, matches, type RpcObject, type ServedChain } from "./served-chain.ts";

type Call = { readonly id: number; readonly method: string; readonly params: readonly unknown[] };

/** Blocks of one eth_getLogs. */
const MOST_BLOCKS = 100;

/** A node with the whole blocks, receipts and logs of a chain, and the state that the chain gives; it has no other method. */
export async function startNodeServer(options: {
  readonly chain: ServedChain;
  readonly port?: number;
  readonly faultOf?: FaultOf;
}): Promise<HistoryServer & { readonly url: string }> {
  const server = await serveAnswers(
    async ({ body }) => {
      const call = JSON.parse(body) as Call;
      const answered = (await answerCall(call, options.chain)) ?? MISSING;
      const answer = { jsonrpc: "2.0", id: call.id, ...answered };
      return { status: 200, body: JSON.stringify(answer), headers: { "content-type": "application/json" } };
    },
    { gzip: false, ...options },
  );
  return { ...server, url: server.origin };
}

const MISSING = { error: { code: -32_601, message: "the method does not exist" } };

/** Null for a method that the node does not have. */
async function answerCall({ method, params }: Call, chain: ServedChain): Promise<object | null> {
  const [first, second] = params;
  switch (method) {
    case "eth_getBlockByNumber": {
      const block = (await chain.read(await numberOf(first, chain)))?.block ?? null;
      const hashes = () => block?.transactions.map(({ hash }) => hash);
      return { result: second === false && block !== null ? { ...block, transactions: hashes() } : block };
    }
    case "eth_getBlockReceipts":
      return { result: (await chain.read(await numberOf(first, chain)))?.receipts ?? null };
    case "eth_getLogs":
      return answerLogs(first as LogFilter, chain);
    default:
      return chain.state === undefined
        ? null
        : answerState({ method, params }, { ...chain, state: chain.state });
  }
}

async function answerState(
  { method, params: [first, second] }: Pick<Call, "method" | "params">,
  chain: ServedChain & Required<Pick<ServedChain, "state">>,
): Promise<object | null> {
  const { state } = chain;
  const subject = String(first).toLowerCase();
  switch (method) {
    case "eth_getTransactionByHash": {
      const served = await chain.read(state.blockOf(subject));
      return { result: served?.block.transactions.find(({ hash }) => hash === subject) ?? null };
    }
    case "eth_getTransactionReceipt": {
      const served = await chain.read(state.blockOf(subject));
      return { result: served?.receipts.find((receipt) => receipt.transactionHash === subject) ?? null };
    }
    case "eth_getTransactionCount":
      return { result: numberToHex(state.sentBy(subject, await numberOf(second, chain))) };
    case "eth_getCode":
      return { result: state.codeOf(subject) };
    case "eth_call": {
      const { to, data } = first as { readonly to: string; readonly data: Hex };
      return { result: state.call(to.toLowerCase(), data, await numberOf(second, chain)) };
    }
    default:
      return null;
  }
}

async function numberOf(place: unknown, chain: ServedChain): Promise<number> {
  return place === "finalized" || place === "latest" ? chain.finalized() : Number(place);
}

type LogFilter = {
  readonly fromBlock: Hex;
  readonly toBlock: Hex;
  readonly address?: unknown;
  readonly topics?: readonly unknown[];
};

async function answerLogs({ fromBlock, toBlock, address, topics = [] }: LogFilter, chain: ServedChain) {
  const [from, to] = [Number(fromBlock), Number(toBlock)];
  if (to - from >= MOST_BLOCKS)
    return { error: { code: -32_005, message: `query exceeds max block range ${MOST_BLOCKS}` } };
  const addresses = listOf(address);
  const places = topics.map(listOf);
  const found: RpcObject[] = [];
  for (let number = from; number <= to; number += 1)
    for (const receipt of (await chain.read(number))?.receipts ?? [])
      for (const log of receipt.logs) {
        const own = log.topics as readonly unknown[];
        if (matches(addresses, log.address) && places.every((list, place) => matches(list, own[place])))
          found.push(log);
      }
  return { result: found };
}
