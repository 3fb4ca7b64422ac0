import { z } from "zod";
import {
  address,
  word as hash,
  quantity as hexBigint,
  count as hexNumber,
} from "../../chain/node/rpc-answers.ts";
import type { AsOf } from "../../model/features/types.ts";
import {
  askNode,
  blockTag,
  bytes,
  countSentBy,
  isFailure,
  type NodeCall,
  type NodeOptions,
  numberedCall,
  readAs,
  readRows,
} from "./ask-source.ts";
import {
  type HistoryFailure,
  type HistorySource,
  historyFailure,
  type PageRequest,
  type SourcePage,
  type SourceRow,
} from "./history.ts";

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
/** Null where the node does not have the block. */
const blockSchema = z.union([z.object({ hash }), z.null().transform(() => ({ hash: null }))]);
const codeSchema = bytes.transform((code) => ({ hasCode: code !== "0x" }));

/** History from a node's Otterscan methods; nodes add the rest of the last block to a page, and Erigon refuses over 25 rows. */
export function createOtterscanSource(options: NodeOptions & { readonly pageSize: number }): HistorySource {
  const ask = <Result extends object>(call: NodeCall<Result>, signal: AbortSignal) =>
    askNode(options, call, signal);
  return {
    name: "otterscan",
    checkReach: async (asOf, signal) => {
      const params = [blockTag(asOf), false];
      const read = (block: unknown) => compareBlock(block, asOf);
      const answer = await ask({ method: "eth_getBlockByNumber", params, read }, signal);
      return isFailure(answer) ? answer : null;
    },
    readPage: async (request, signal) => {
      // Exclusive: the node answers what lies before it.
      const before = request.oldestBlock ?? request.toBlock + 1;
      // Nothing can be in genesis, and zero would mean the newest block.
      if (before <= 1) return { kind: "page", rows: [], last: true };
      const params = [request.wallet, before, options.pageSize];
      const read = (page: unknown) => readPage(page, request);
      return ask({ method: "ots_searchTransactionsBefore", params, read }, signal);
    },
    countSent: countSentBy(options),
    // As of now: many nodes keep no state of past blocks, and a wallet that delegates once mostly goes on to.
    checkCode: ({ wallet }, signal) => {
      const read = (code: unknown) => readAs(codeSchema, code, "the node returned no code");
      return ask({ method: "eth_getCode", params: [wallet, "latest"], read }, signal);
    },
  };
}

function compareBlock(result: unknown, asOf: AsOf): { readonly hash: string | null } | HistoryFailure {
  const block = readAs(blockSchema, result, "the block has no hash");
  if (isFailure(block) || block.hash === asOf.blockHash.toLowerCase()) return block;
  return block.hash === null
    ? historyFailure("behind", `the node does not have block ${asOf.blockNumber} yet`)
    : historyFailure("inconsistent", `block ${asOf.blockNumber} is another one than in the index`);
}

function readPage(result: unknown, request: PageRequest): SourcePage | HistoryFailure {
  const page = readAs(pageSchema, result, "the page has no transactions, receipts and lastPage");
  if (isFailure(page)) return page;
  const { txs, receipts, lastPage: last } = page;
  if (txs.length !== receipts.length) {
    return historyFailure("inconsistent", `${txs.length} transactions with ${receipts.length} receipts`);
  }
  const rows = readRows(txs, (transaction, at) => readRow(transaction, receipts[at], request));
  return isFailure(rows) ? rows : { kind: "page", rows, last };
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
      wallet,
      gasUsed,
      to: to ?? null,
      ok: status === "0x1",
      gasLimit: gas,
      gasPrice: effectiveGasPrice,
      settlementFee: l1Fee ?? 0n,
    }),
  };
}
