import type { Address, Hex } from "viem";
import { z } from "zod";
import { ASK_POLICY, type AskPolicy, askJson, isFailure } from "../history/ask-json.ts";
import { type HistoryFailure, historyFailure } from "../history/history-source.ts";
import { address, hash, hexBigint, hexNumber } from "../history/source-values.ts";
import type { AccountFactSource, SourcedFacts } from "./account-fact-source.ts";

export type OtterscanFactsOptions = {
  /** JSON-RPC endpoint of a node with the ots_ methods. */
  readonly url: string;
  /** Entry points of ERC-4337, lower-case: whoever sends a bundle to one has created none of the accounts in it. */
  readonly entryPoints: ReadonlySet<Address>;
  readonly policy?: AskPolicy;
};

/** Erigon refuses larger pages unless told otherwise; local nodes search longer for more. */
const OLDEST_ROWS = 10;

const rpcAnswer = z.union([
  z.object({ error: z.object({ code: z.number(), message: z.string() }) }),
  z.object({ result: z.unknown() }),
]);
const creationAnswer = z.object({ hash, creator: address }).nullable();
const creationReceipt = z.object({ blockNumber: hexNumber, from: address, to: address.nullish() }).nullable();
const blockAnswer = z.object({ timestamp: hexNumber }).nullable();
const pageAnswer = z.object({
  txs: z.array(
    z.object({ hash, blockNumber: hexNumber, from: address, to: address.nullish(), value: hexBigint }),
  ),
  receipts: z.array(
    z.object({
      transactionHash: hash,
      status: z.enum(["0x0", "0x1"]),
      /** Erigon gives the time as a number, others as a quantity. */
      timestamp: z.union([z.int().nonnegative(), hexNumber]),
    }),
  ),
});
const operationsAnswer = z.array(z.object({ to: address, value: hexBigint }));

type Ask = <Answer>(
  method: string,
  params: readonly unknown[],
  schema: z.ZodType<Answer>,
) => Promise<{ readonly answer: Answer } | HistoryFailure>;

const UNKNOWN: SourcedFacts = { kind: "facts", creator: null, firstFunder: null, existed: null };
/** Unknown method, bad parameters, bad request, unsupported: asking again changes nothing. */
const REFUSED = new Set([-32601, -32602, -32600, -32004]);
const RATE_LIMITED = new Set([429, -32005, -32029]);

/**
 * Facts from the Otterscan methods of a node: of a contract the sender of the transaction that created it, and of any other
 * account who paid it first, directly or through contracts, and when it first sent a transaction itself.
 */
export function createOtterscanFacts(options: OtterscanFactsOptions): AccountFactSource {
  return {
    name: "otterscan",
    read: async ({ address: account, hasCode }, signal) => {
      const ask: Ask = (method, params, schema) =>
        askJson(
          {
            url: new URL(options.url),
            body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
          },
          (json) => readAnswer(json, method, schema),
          { policy: options.policy ?? ASK_POLICY, signal },
        );
      return hasCode ? readContract(ask, account, options.entryPoints) : readAccount(ask, account);
    },
  };
}

function readAnswer<Answer>(
  json: unknown,
  method: string,
  schema: z.ZodType<Answer>,
): { readonly answer: Answer } | HistoryFailure {
  const parsed = rpcAnswer.safeParse(json);
  if (!parsed.success) return historyFailure("malformed", `${method}: neither a result nor an error`);
  if ("error" in parsed.data) {
    const { code } = parsed.data.error;
    const reason = RATE_LIMITED.has(code) ? "rate_limited" : REFUSED.has(code) ? "refused" : "unavailable";
    return historyFailure(reason, `${method}: error ${code}`);
  }
  const answer = schema.safeParse(parsed.data.result);
  return answer.success
    ? { answer: answer.data }
    : historyFailure("malformed", `${method}: ${z.prettifyError(answer.error).slice(0, 300)}`);
}

/** A contract that was there from the chain's start has no creator. */
async function readContract(
  ask: Ask,
  contract: Address,
  entryPoints: ReadonlySet<Address>,
): Promise<SourcedFacts | HistoryFailure> {
  const creation = await ask("ots_getContractCreator", [contract], creationAnswer);
  if (isFailure(creation)) return creation;
  if (creation.answer === null) return UNKNOWN;
  const receipt = await ask("eth_getTransactionReceipt", [creation.answer.hash], creationReceipt);
  if (isFailure(receipt)) return receipt;
  if (receipt.answer === null) return historyFailure("inconsistent", "a creation without a receipt");
  const { blockNumber, from, to } = receipt.answer;
  const params = [`0x${blockNumber.toString(16)}`, false];
  const block = await ask("eth_getBlockByNumber", params, blockAnswer);
  if (isFailure(block)) return block;
  if (block.answer === null) return historyFailure("inconsistent", "a creation in a block that is not there");
  const isBundled = to !== null && to !== undefined && entryPoints.has(to);
  const existed = { block: blockNumber, timestamp: block.answer.timestamp };
  return { ...UNKNOWN, creator: isBundled ? null : from, existed };
}

async function readAccount(ask: Ask, account: Address): Promise<SourcedFacts | HistoryFailure> {
  const page = await ask("ots_searchTransactionsAfter", [account, 0, OLDEST_ROWS], pageAnswer);
  if (isFailure(page)) return page;
  const { txs, receipts } = page.answer;
  if (txs.length !== receipts.length) {
    return historyFailure("inconsistent", `${txs.length} transactions with ${receipts.length} receipts`);
  }
  const outcomes = new Map(receipts.map((receipt) => [receipt.transactionHash, receipt]));
  const rows: Row[] = [];
  for (const transaction of txs) {
    const outcome = outcomes.get(transaction.hash);
    if (outcome === undefined) return historyFailure("inconsistent", "a receipt of another transaction");
    rows.push({ ...transaction, ok: outcome.status === "0x1", timestamp: outcome.timestamp });
  }
  rows.sort((a, b) => a.blockNumber - b.blockNumber);
  const sent = rows.find(({ from }) => from === account);
  const firstFunder = await readFirstFunder(ask, account, rows);
  if (firstFunder !== null && typeof firstFunder === "object") return firstFunder;
  const existed = sent === undefined ? null : { block: sent.blockNumber, timestamp: sent.timestamp };
  return { ...UNKNOWN, firstFunder, existed };
}

type Row = {
  readonly hash: Hex;
  readonly blockNumber: number;
  readonly from: Address;
  readonly to?: Address | null | undefined;
  readonly value: bigint;
  readonly ok: boolean;
  readonly timestamp: number;
};

/** The sender of the oldest transaction that paid the account; what it sent itself paid others. */
async function readFirstFunder(
  ask: Ask,
  account: Address,
  rows: readonly Row[],
): Promise<Address | null | HistoryFailure> {
  for (const { hash: id, from, to, value, ok } of rows) {
    if (from === account || !ok) continue;
    if (to === account) {
      if (value > 0n) return from;
      continue;
    }
    const operations = await ask("ots_getInternalOperations", [id], operationsAnswer);
    if (isFailure(operations)) return operations;
    if (operations.answer.some((operation) => operation.to === account && operation.value > 0n)) return from;
  }
  return null;
}
