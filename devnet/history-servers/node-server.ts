import { type FaultOf, type HistoryServer, serveAnswers } from "./http-server.ts";
import type { ServedChain } from "./served-chain.ts";

type Call = { readonly id: number; readonly method: string; readonly params: readonly unknown[] };

/** A node with the whole blocks and receipts of a chain, and no other method. */
export async function startNodeServer(options: {
  readonly chain: ServedChain;
  readonly port?: number;
  readonly faultOf?: FaultOf;
}): Promise<HistoryServer & { readonly url: string }> {
  const server = await serveAnswers(
    async ({ body }) => {
      const call = JSON.parse(body) as Call;
      const answer = { jsonrpc: "2.0", id: call.id, ...(await answerCall(call, options.chain)) };
      return { status: 200, body: JSON.stringify(answer), headers: { "content-type": "application/json" } };
    },
    { gzip: false, ...options },
  );
  return { ...server, url: server.origin };
}

async function answerCall({ method, params: [place] }: Call, chain: ServedChain): Promise<object> {
  const number = place === "finalized" ? await chain.finalized() : Number(place);
  const served = await chain.read(number);
  if (method === "eth_getBlockByNumber") return { result: served?.block ?? null };
  if (method === "eth_getBlockReceipts") return { result: served?.receipts ?? null };
  return { error: { code: -32_601, message: "the method does not exist" } };
}
