import { isDeepStrictEqual } from "node:util";
import type { Address } from "viem";
import type { ChainReader } from "../../chain/node/chain-reader.ts";
import type { RawLog, RawReceipt } from "../../chain/node/rpc-answers.ts";
import { receiptLogs } from "../enrich/executions.ts";
import { DEPOSIT_TYPE } from "../history/batch-rows.ts";
import type { BatchTransaction, WalletsBlock } from "../history/batch-source.ts";
import { type HistoryFailure, historyFailure } from "../history/history.ts";
import type { WarmWallet } from "./warm-state.sql.ts";

/** Transactions of a batch that the node is asked for. */
const SAMPLE = 3;

/**
 * Compares the last block of a batch, and some of its transactions at random, with the node's; returns what differs, null if nothing
 * does. Throws a NodeFailure. `random` gives numbers from 0 up to 1.
 */
export async function compareWithNode(
  client: Pick<ChainReader, "header" | "transaction" | "receipt">,
  blocks: readonly WalletsBlock[],
  random: () => number,
): Promise<HistoryFailure | null> {
  const last = blocks.at(-1);
  if (last === undefined) return null;
  const header = await client.header(last.header.number);
  if (header?.hash !== last.header.hash) return differs(`the hash of block ${last.header.number}`);
  const all = blocks.flatMap(({ transactions }) => transactions);
  const chosen = Array.from({ length: Math.min(SAMPLE, all.length) }, () => {
    const place = Math.floor(random() * all.length);
    return all[place];
  });
  for (const one of new Set(chosen)) {
    const text = one === undefined ? null : await differenceOf(client, one);
    if (text !== null) return differs(text);
  }
  const logs = blocks.flatMap((block) => block.logs);
  const log = logs[Math.floor(random() * logs.length)];
  return log === undefined || (await holdsLog(client, log))
    ? null
    : differs(`a log of ${log.transactionHash}`);
}

async function holdsLog(client: Pick<ChainReader, "receipt">, log: RawLog): Promise<boolean> {
  const receipt = await client.receipt(log.transactionHash);
  return receipt !== null && receiptLogs(receipt).some((one) => isDeepStrictEqual(one, log));
}

async function differenceOf(
  client: Pick<ChainReader, "transaction" | "receipt">,
  { transaction, receipt }: BatchTransaction,
): Promise<string | null> {
  const { hash } = transaction;
  const [sent, mined] = await Promise.all([client.transaction(hash), client.receipt(hash)]);
  if (sent === null || mined === null) return `transaction ${hash}, which the node does not have`;
  // A deposit pays no L1 fee: some nodes say so by a zero, others leave it out.
  const free = transaction.type === DEPOSIT_TYPE ? 0n : null;
  const l1FeeOf = ({ l1Fee }: Pick<RawReceipt, "l1Fee">) => l1Fee ?? free;
  const compared = [
    ["block hash", transaction.blockHash, sent.blockHash],
    ["index", transaction.transactionIndex, sent.transactionIndex],
    ["recipient", transaction.to ?? null, sent.to ?? null],
    ["calldata", transaction.input, sent.input],
    ["value", transaction.value, sent.value],
    ["gas limit", transaction.gas, sent.gas],
    ["sender", receipt.from, mined.from],
    ["status", receipt.status, mined.status],
    ["used gas", receipt.gasUsed, mined.gasUsed],
    ["gas price", receipt.effectiveGasPrice, mined.effectiveGasPrice],
    ["L1 fee", l1FeeOf(receipt), l1FeeOf(mined)],
    ["number of logs", receipt.logs.length, mined.logs.length],
  ] as const;
  const other = compared.find(([, given, expected]) => given !== expected);
  if (other === undefined) return null;
  const [what, given, expected] = other;
  return `the ${what} of transaction ${hash}: expected ${expected}, got ${given}`;
}

function differs(what: string): HistoryFailure {
  return historyFailure("inconsistent", `the batch source and the node differ in ${what}`);
}

/** Follows the nonces of wallets through the rows of one slice, which come in the order of the chain. */
export function createNonceCheck(wallets: readonly Pick<WarmWallet, "wallet" | "followedBlock">[]) {
  /** The index counts later ones. */
  const lastBlocks = new Map(wallets.map(({ wallet, followedBlock }) => [wallet, followedBlock]));
  const seen = new Map<Address, { readonly first: number; last: number }>();
  const broken = new Set<Address>();
  return {
    /** Those of other accounts are passed over. */
    add: ({ from, nonce, blockNumber }: BatchTransaction["transaction"]): void => {
      if (blockNumber > (lastBlocks.get(from) ?? -1)) return;
      const known = seen.get(from);
      if (known === undefined) seen.set(from, { first: nonce, last: nonce });
      else if (nonce === known.last + 1) known.last = nonce;
      else broken.add(from);
    },
    /**
     * Transactions that the wallet had sent before the slice; null if it has a gap in it, or ends with another nonce than the
     * `expected` number of transactions before what follows it.
     */
    before: (wallet: Address, expected: number): number | null => {
      const known = seen.get(wallet);
      if (known === undefined) return expected;
      return broken.has(wallet) || known.last + 1 !== expected ? null : known.first;
    },
  };
}
