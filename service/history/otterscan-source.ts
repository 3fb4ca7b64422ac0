import { z } from "zod";
import type { AsOf } from "../features/types.ts";
import { ASK_POLICY, type AskPolicy, askJson, isFailure } from "./ask-json.ts";
import {
  type HistoryFailure,
  type HistorySource,
  historyFailure,
  type PageRequest,
  type SourcePage,
  type SourceRow,
} from "./history-source.ts";
import { address, bytes, hash, hexBigint, hexNumber, numberedCall } from "./source-values.ts";

export type OtterscanOptions = {
  /** JSON-RPC endpoint of a node with the ots_ methods. */
  readonly url: string;
  /** Rows wanted per page; nodes add the rest of the last block, and Erigon refuses more than 25 unless told otherwise. */
  readonly pageSize: number;
  readonly policy?: AskPolicy;
};

const rpcAnswer = z.union([
  z.object({ error: z.object({ code: z.number(), message: z.string() }) }),
  z.object({ result: z.unknown() }),
]);

const anyTransaction = z.object({ hash, blockNumber: hexNumber, from: address });
const ownTransaction = z.object({
  transactionIndex: hexNumber,
  nonce: hexNumber,
  to: address.nullish(),
  input: bytes,
  value: hexBigint,
  gas: hexBigint,
});
/** Erigon gives the time as a number, others as a quantity. */
const anyReceipt = z.object({
  transactionHash: hash,
  timestamp: z.union([z.int().nonnegative(), hexNumber]),
});
const ownReceipt = z.object({
  status: z.enum(["0x0", "0x1"]),
  gasUsed: hexBigint,
  effectiveGasPrice: hexBigint,
  l1Fee: hexBigint.nullish(),
});
const pageSchema = z.object({
  txs: z.array(z.looseObject({})),
  receipts: z.array(z.looseObject({})),
  lastPage: z.boolean(),
});
const blockSchema = z.object({ hash }).nullable();

const RATE_LIMITED = new Set([429, -32005, -32029]);
/** Unknown method, bad parameters, bad request, unsupported: asking again changes nothing. */
const REFUSED = new Set([-32601, -32602, -32600, -32004]);

/** History from the Otterscan methods of a node; internal calls that touch the wallet come too, and are others' rows. */
export function createOtterscanSource(options: OtterscanOptions): HistorySource {
  const rpc = <Result extends object>(call: RpcCall<Result>, signal: AbortSignal) =>
    askJson(
      {
        url: new URL(options.url),
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: call.method, params: call.params }),
      },
      (json) => readAnswer(json, call),
      { policy: options.policy ?? ASK_POLICY, signal },
    );
  return {
    name: "otterscan",
    checkReach: async (asOf, signal) => {
      const params = [`0x${asOf.blockNumber.toString(16)}`, false];
      const answer = await rpc(
        { method: "eth_getBlockByNumber", params, read: (block) => compareBlock(block, asOf) },
        signal,
      );
      return isFailure(answer) ? answer : null;
    },
    readPage: async (request, signal) => {
      // Exclusive: the node answers what lies before it.
      const before = request.oldestBlock ?? request.toBlock + 1;
      // Nothing can be in genesis, and zero would mean the newest block.
      if (before <= 1) return { kind: "page", rows: [], last: true };
      return rpc(
        {
          method: "ots_searchTransactionsBefore",
          params: [request.wallet, before, options.pageSize],
          read: (page) => readPage(page, request),
        },
        signal,
      );
    },
  };
}

type RpcCall<Result> = {
  readonly method: string;
  readonly params: readonly unknown[];
  readonly read: (result: unknown) => Result | HistoryFailure;
};

function readAnswer<Result>(json: unknown, { method, read }: RpcCall<Result>): Result | HistoryFailure {
  const answer = rpcAnswer.safeParse(json);
  if (!answer.success) return historyFailure("malformed", `${method}: neither a result nor an error`);
  if ("result" in answer.data) return read(answer.data.result);
  const { code } = answer.data.error;
  const reason = RATE_LIMITED.has(code) ? "rate_limited" : REFUSED.has(code) ? "refused" : "unavailable";
  return historyFailure(reason, `${method}: error ${code}`);
}

function compareBlock(result: unknown, asOf: AsOf): { readonly hash: string } | HistoryFailure {
  const block = blockSchema.safeParse(result);
  if (!block.success) return historyFailure("malformed", "the block has no hash");
  if (block.data === null) {
    return historyFailure("behind", `the node does not have block ${asOf.blockNumber} yet`);
  }
  return block.data.hash === asOf.blockHash.toLowerCase()
    ? block.data
    : historyFailure("inconsistent", `block ${asOf.blockNumber} is another one than in the index`);
}

function readPage(result: unknown, request: PageRequest): SourcePage | HistoryFailure {
  const page = pageSchema.safeParse(result);
  if (!page.success)
    return historyFailure("malformed", "the page has no transactions, receipts and lastPage");
  const { txs, receipts, lastPage } = page.data;
  if (txs.length !== receipts.length) {
    return historyFailure("inconsistent", `${txs.length} transactions with ${receipts.length} receipts`);
  }
  const rows: SourceRow[] = [];
  for (const [at, transaction] of txs.entries()) {
    const row = readRow(transaction, receipts[at], request);
    if (isFailure(row)) return row;
    rows.push(row);
  }
  return { kind: "page", rows, last: lastPage };
}

/** Only the wallet's own transactions must be understood whole: deposits and other kinds that touch it have odd shapes. */
function readRow(
  transaction: unknown,
  receipt: unknown,
  { wallet }: PageRequest,
): SourceRow | HistoryFailure {
  const sent = anyTransaction.safeParse(transaction);
  const mined = anyReceipt.safeParse(receipt);
  if (!sent.success || !mined.success)
    return historyFailure("malformed", "a transaction without its basic members");
  if (sent.data.hash !== mined.data.transactionHash) {
    return historyFailure("inconsistent", "a receipt of another transaction");
  }
  const { hash: id, blockNumber, from } = sent.data;
  const row = { hash: id, blockNumber, timestamp: mined.data.timestamp };
  if (from !== wallet) return { ...row, own: null };
  const details = ownTransaction.safeParse(transaction);
  const outcome = ownReceipt.safeParse(receipt);
  if (!details.success || !outcome.success)
    return historyFailure("malformed", "an own call without all its members");
  const { to, gas, ...same } = details.data;
  const { status, gasUsed, effectiveGasPrice, l1Fee } = outcome.data;
  return {
    ...row,
    own: numberedCall({
      ...row,
      ...same,
      hash: id,
      to: to ?? null,
      ok: status === "0x1",
      gasLimit: gas,
      gasUsed,
      gasPrice: effectiveGasPrice,
      settlementFee: l1Fee ?? 0n,
    }),
  };
}
