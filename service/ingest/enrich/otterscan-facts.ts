import type { Address } from "viem";
import { z } from "zod";
import {
  address,
  word as hash,
  quantity as hexBigint,
  count as hexNumber,
} from "../../chain/node/rpc-answers.ts";
import { askNode, isFailure, type NodeOptions, readAs } from "../history/ask-source.ts";
import { type HistoryFailure, historyFailure } from "../history/history.ts";
import type { AccountFactSource, SourcedFacts } from "./account-facts.ts";

/** Most accounts are paid at once, and a local node searches the longer the more rows are asked for. */
const FIRST_ROWS = 10;
/** Erigon refuses larger pages by default. */
const MORE_ROWS = 25;
/** An account that is called more often than that before it is paid has no known funder. */
const MOST_PAGES = 10;

/** Pays for some 20 simple transactions at 2 gwei, and for thousands on a rollup: too much to spend on linking strangers. */
export const FUNDING_WEI = 10n ** 15n;

const creationAnswer = z.object({ hash, creator: address }).nullable();
const creationReceipt = z.object({ blockNumber: hexNumber, from: address, to: address.nullish() }).nullable();
const blockAnswer = z.object({ timestamp: hexNumber }).nullable();
const pageAnswer = z.object({
  txs: z.array(
    z.object({
      hash,
      blockNumber: hexNumber,
      transactionIndex: hexNumber,
      from: address,
      to: address.nullish(),
      value: hexBigint,
    }),
  ),
  receipts: z.array(
    z.object({
      transactionHash: hash,
      status: z.enum(["0x0", "0x1"]),
      /** Erigon gives the time as a number, others as a quantity. */
      timestamp: z.union([z.int().nonnegative(), hexNumber]),
    }),
  ),
  /** Whether it holds the newest transaction of the account. */
  firstPage: z.boolean(),
});
const operationsAnswer = z.array(z.object({ to: address, value: hexBigint }));

type Ask = <Answer>(
  method: string,
  params: readonly unknown[],
  schema: z.ZodType<Answer>,
) => Promise<{ readonly answer: Answer } | HistoryFailure>;

const UNKNOWN: SourcedFacts = { kind: "facts", creator: null, firstFunder: null, existed: null };

/**
 * Facts from a node with Otterscan's methods: who sent the transaction that created a contract, unless it is a bundle for one of
 * the entry points (lower-case); of other accounts who funded it first, within 235 transactions, and its first own transaction.
 */
export function createOtterscanFacts(
  options: NodeOptions & { readonly entryPoints: ReadonlySet<Address> },
): AccountFactSource {
  return {
    name: "otterscan",
    read: async ({ address: account, hasCode }, signal) => {
      const ask: Ask = (method, params, schema) => {
        const form = schema.transform((answer) => ({ answer }));
        const read = (result: unknown) => readAs(form, result, `${method}: an answer of another form`);
        return askNode(options, { method, params, read }, signal);
      };
      return hasCode ? readContract(ask, account, options.entryPoints) : readAccount(ask, account);
    },
  };
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

/** The first sender of enough for some transactions, or of most of the account's later spending: dust is no link. */
async function readAccount(ask: Ask, account: Address): Promise<SourcedFacts | HistoryFailure> {
  let most: Pick<Row, "from" | "value"> | null = null;
  let after = 0;
  for (let page = 1; ; page += 1) {
    const read = await readPage(ask, account, { after, rows: page === 1 ? FIRST_ROWS : MORE_ROWS });
    if (isFailure(read)) return read;
    const sent = read.rows.find(({ from }) => from === account);
    const before = sent === undefined ? read.rows : read.rows.slice(0, read.rows.indexOf(sent));
    const paid = await findFunding(ask, account, { rows: before, most });
    if (isFailure(paid)) return paid;
    most = paid.most;
    const isFunded = most !== null && most.value >= FUNDING_WEI;
    if (isFunded || sent !== undefined || read.next === null || page === MOST_PAGES) {
      const firstFunder = most !== null && (isFunded || sent !== undefined) ? most.from : null;
      const existed = sent === undefined ? null : { block: sent.blockNumber, timestamp: sent.timestamp };
      return { ...UNKNOWN, firstFunder, existed };
    }
    after = read.next;
  }
}

type Row = z.infer<typeof pageAnswer>["txs"][number] & { readonly ok: boolean; readonly timestamp: number };

/** Transactions that touch an account after a block, the oldest first, and the block to go on after; null behind the newest. */
async function readPage(
  ask: Ask,
  account: Address,
  from: { readonly after: number; readonly rows: number },
): Promise<{ readonly rows: readonly Row[]; readonly next: number | null } | HistoryFailure> {
  const page = await ask("ots_searchTransactionsAfter", [account, from.after, from.rows], pageAnswer);
  if (isFailure(page)) return page;
  const { txs, receipts, firstPage } = page.answer;
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
  rows.sort((a, b) => a.blockNumber - b.blockNumber || a.transactionIndex - b.transactionIndex);
  const newest = rows.at(-1);
  if (firstPage || newest === undefined) return { rows, next: null };
  return newest.blockNumber > from.after
    ? { rows, next: newest.blockNumber }
    : historyFailure("inconsistent", `nothing newer was reported than block ${from.after}`);
}

/** The largest payment to the account up to the first that funds it; of equal ones the oldest. */
async function findFunding(
  ask: Ask,
  account: Address,
  { rows, ...known }: { readonly rows: readonly Row[]; readonly most: Pick<Row, "from" | "value"> | null },
): Promise<{ readonly most: Pick<Row, "from" | "value"> | null } | HistoryFailure> {
  let { most } = known;
  for (const { hash: id, from, to, value: sent, ok } of rows) {
    if (!ok) continue;
    let value = to === account ? sent : 0n;
    if (to !== account) {
      const operations = await ask("ots_getInternalOperations", [id], operationsAnswer);
      if (isFailure(operations)) return operations;
      for (const operation of operations.answer) if (operation.to === account) value += operation.value;
    }
    if (value > (most === null ? 0n : most.value)) most = { from, value };
    if (most !== null && most.value >= FUNDING_WEI) break;
  }
  return { most };
}
