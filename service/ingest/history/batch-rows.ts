import type { Hex } from "viem";
import { z } from "zod";
import { address, bytesAnswer, logAnswer, type RawLog, word } from "../../chain/node/rpc-answers.ts";
import type { BatchHeader, BatchTransaction } from "./batch-source.ts";
import { type HistoryFailure, historyFailure } from "./history.ts";

/** The rows that a source has of a block, each once and in order: all of them, or those that a request selects. */
export type BlockRows = {
  readonly header: BatchHeader;
  readonly transactions: readonly MinedRow[];
  readonly logs: readonly RawLog[];
};

export type MinedRow = {
  readonly transaction: Omit<BatchTransaction["transaction"], "input"> & {
    /** Null where the source was not asked for it. */
    readonly input: Hex | null;
  };
  readonly receipt: Omit<BatchTransaction["receipt"], "logs">;
};

/** Whether the chain's transactions pay for their place in another chain, as those of the OP stack do. */
export type L1Fee = "paid" | "none";

/** EIP-2718 type of the OP stack's deposits, which pay no fee. */
export const DEPOSIT_TYPE = 126;

const NUMBER_FORM = /^(?:0x[0-9a-fA-F]{1,64}|\d{1,78})$/;

/** A quantity as a JSON number, in hexadecimal or in decimal digits: sources differ, and change. */
const anyQuantity = z.unknown().transform((value, { issues }): bigint => {
  const isNumber = typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
  if (isNumber || (typeof value === "string" && NUMBER_FORM.test(value))) return BigInt(value);
  issues.push({ code: "custom", input: value, message: "not a quantity" });
  return z.NEVER;
});
export const anyCount = anyQuantity
  .refine((value) => value <= BigInt(Number.MAX_SAFE_INTEGER))
  .transform(Number);

const headerRow = z.object({
  number: anyCount,
  hash: word,
  parentHash: word,
  timestamp: anyCount,
  baseFeePerGas: anyQuantity.nullish(),
});

const transactionRow = z.object({
  hash: word,
  transactionIndex: anyCount,
  from: address,
  to: address.nullish(),
  nonce: anyCount,
  type: anyCount,
  value: anyQuantity,
  input: bytesAnswer.nullish(),
  gas: anyQuantity,
  gasUsed: anyQuantity,
  effectiveGasPrice: anyQuantity.nullish(),
  status: anyCount.pipe(z.literal([0, 1])),
  contractAddress: address.nullish(),
  l1Fee: anyQuantity.nullish(),
  blockHash: word.nullish(),
});

/** A source's own words of a block, by the names of JSON-RPC. A row that names its block's hash must name the header's. */
export type NamedRows = {
  readonly header: unknown;
  readonly transactions: readonly unknown[];
  readonly logs: readonly unknown[];
};

/** Reads the rows of a block in any order, each once or more often. */
export function readRows(named: NamedRows, l1Fee: L1Fee): BlockRows | HistoryFailure {
  const { data: parsed } = headerRow.safeParse(named.header);
  if (parsed === undefined) return historyFailure("malformed", "a block without a readable header");
  const header = { ...parsed, baseFeePerGas: parsed.baseFeePerGas ?? null };
  const transactions = new Map<number, MinedRow>();
  for (const given of named.transactions) {
    const row = readTransaction(given, { header, l1Fee });
    if (typeof row === "string") return historyFailure("malformed", `block ${header.number}: ${row}`);
    const { transactionIndex: index, hash } = row.transaction;
    const known = transactions.get(index)?.transaction;
    if ((known?.hash ?? hash) !== hash || row.transaction.blockHash !== header.hash)
      return historyFailure("inconsistent", `block ${header.number} has two transactions ${index}`);
    if ((known?.input ?? null) === null) transactions.set(index, row);
  }
  const logs = new Map<number, RawLog>();
  for (const given of named.logs) {
    const row =
      typeof given === "object" ? { blockHash: header.hash, ...given, blockNumber: header.number } : given;
    const { data: log } = logAnswer.safeParse(row);
    if (log === undefined) return historyFailure("malformed", `block ${header.number} has an unreadable log`);
    if (
      (logs.get(log.logIndex)?.transactionHash ?? log.transactionHash) !== log.transactionHash ||
      log.blockHash !== header.hash
    )
      return historyFailure("inconsistent", `block ${header.number} has two logs ${log.logIndex}`);
    logs.set(log.logIndex, log);
  }
  return { header, transactions: inOrder(transactions), logs: inOrder(logs) };
}

function inOrder<Row>(rows: ReadonlyMap<number, Row>): readonly Row[] {
  return [...rows].toSorted(([a], [b]) => a - b).map(([, row]) => row);
}

/** The transaction with its receipt, or its fault. */
function readTransaction(
  given: unknown,
  { header, l1Fee }: { readonly header: BatchHeader; readonly l1Fee: L1Fee },
): MinedRow | string {
  const { data: row, error } = transactionRow.safeParse(given);
  if (row === undefined) return `unreadable ${error.issues[0]?.path.join(".")} of a transaction`;
  const { hash, transactionIndex, from, nonce, type, value, input, gas, gasUsed } = row;
  const [to, isDeposit, created] = [row.to ?? null, type === DEPOSIT_TYPE, row.contractAddress ?? null];
  const price = row.effectiveGasPrice ?? (isDeposit ? 0n : null);
  const paid = l1Fee === "none" || isDeposit ? null : (row.l1Fee ?? "missing");
  const isCreation = to === null && row.status === 1;
  if (price === null) return `no gas price of ${hash}`;
  if (paid === "missing") return `no L1 fee of ${hash}`;
  if (isCreation && created === null) return `no contract of ${hash}`;
  const place = { transactionIndex, blockNumber: header.number, blockHash: row.blockHash ?? header.hash };
  return {
    transaction: { ...place, hash, from, to, nonce, type, value, input: input ?? null, gas },
    receipt: {
      ...place,
      transactionHash: hash,
      from,
      to,
      status: row.status === 1 ? "0x1" : "0x0",
      gasUsed,
      effectiveGasPrice: price,
      l1Fee: paid,
      contractAddress: isCreation ? created : null,
    },
  };
}
