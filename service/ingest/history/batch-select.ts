import type { Address, Hex } from "viem";
import {
  APPROVAL,
  APPROVAL_FOR_ALL,
  AUTHORIZATION_USED,
  addressOf,
  type RawLog,
  SAFE_FAILURE,
  SAFE_SUCCESS,
  TRANSFER,
  TRANSFER_BATCH,
  TRANSFER_SINGLE,
  topicWord,
  USER_OPERATION,
} from "../../chain/node/rpc-answers.ts";
import type { NativePayment } from "../enrich/enrich-reads.ts";
import type { BlockRows, MinedRow } from "./batch-rows.ts";
import type { BatchBlock, BatchTransaction, WalletsBlock, WalletsRequest } from "./batch-source.ts";
import { type HistoryFailure, historyFailure } from "./history.ts";

/** Logs that name a wallet by an indexed place, grouped by that place. */
export const NAMING_LOGS: readonly { readonly place: 1 | 2 | 3; readonly events: readonly Hex[] }[] = [
  { place: 1, events: [TRANSFER, APPROVAL, APPROVAL_FOR_ALL] },
  { place: 2, events: [TRANSFER, TRANSFER_SINGLE, TRANSFER_BATCH] },
  { place: 3, events: [TRANSFER_SINGLE, TRANSFER_BATCH] },
];

/** The same of logs that only some emitters are believed: a wallet's account acts in their transaction. */
export const BELIEVED_LOGS = [
  { place: 1, events: [AUTHORIZATION_USED], by: "tokens" },
  { place: 2, events: [USER_OPERATION], by: "entryPoints" },
] as const;

/** Logs of a wallet's own, in whose transaction its account acts. */
export const SAFE_LOGS: readonly Hex[] = [SAFE_SUCCESS, SAFE_FAILURE];

/** Whether the place of a log names one of the accounts. */
type Names = (log: RawLog, accounts: Parties["wallets"]) => boolean;

const NAMING = byEvent(NAMING_LOGS);

function byEvent(
  groups: readonly { readonly place: number; readonly events: readonly Hex[] }[],
): ReadonlyMap<Hex, Names> {
  const events = new Set(groups.flatMap((group) => group.events));
  return new Map(
    [...events].map((event) => {
      const places = groups.filter((group) => group.events.includes(event)).map(({ place }) => place);
      return [event, (log, accounts) => places.some((place) => isNamed(log, place, accounts))];
    }),
  );
}

function isNamed({ topics }: RawLog, place: number, accounts: Parties["wallets"]): boolean {
  const named = addressOf(topicWord(topics[place]));
  return named !== null && accounts.has(named);
}

/** Whose logs are looked for, lower-case: wallets, and the contracts that are believed. */
export type Parties = {
  readonly wallets: Pick<ReadonlySet<Address>, "has">;
  readonly tokens: ReadonlySet<Address>;
  readonly entryPoints: ReadonlySet<Address>;
};

/** Says of a log that a wallet's account acted in its transaction, or that it names a wallet; null for neither. */
export function chooseLogs({ wallets, ...emitters }: Parties): (log: RawLog) => "acts" | "names" | null {
  const isActing = (log: RawLog): boolean => {
    const [event = "0x"] = log.topics;
    if (SAFE_LOGS.includes(event)) return wallets.has(log.address);
    return BELIEVED_LOGS.some(
      ({ place, events: [believed], by }) =>
        believed === event && emitters[by].has(log.address) && isNamed(log, place, wallets),
    );
  };
  return (log) => {
    if (isActing(log)) return "acts";
    return NAMING.get(log.topics[0] ?? "0x")?.(log, wallets) === true ? "names" : null;
  };
}

/**
 * Chooses the part of a block that concerns the wallets, from rows that hold at least that. Null if nothing does; a failure if a row
 * of it is missing.
 */
export function walletsPart(request: Omit<WalletsRequest, "from" | "to">) {
  const wallets = new Set(request.wallets);
  const choose = chooseLogs({
    wallets,
    tokens: new Set(request.tokens),
    entryPoints: new Set(request.entryPoints),
  });
  return (rows: BlockRows): WalletsBlock | HistoryFailure | null => {
    const hashes = new Set<Hex>();
    const logs = rows.logs.filter((log) => {
      const chosen = choose(log);
      if (chosen === "acts") hashes.add(log.transactionHash);
      return chosen !== null;
    });
    const isWanted = ({ transaction: { from, hash } }: MinedRow) => wallets.has(from) || hashes.has(hash);
    const transactions = withLogs(rows, rows.transactions.filter(isWanted));
    if ("kind" in transactions) return transactions;
    for (const { transaction } of transactions) hashes.delete(transaction.hash);
    const [missing] = hashes;
    if (missing !== undefined) return gap(rows, `transaction ${missing}, which one of its logs names`);
    const payments = paymentsIn(rows, wallets);
    if (transactions.length + payments.length + logs.length === 0) return null;
    return { header: rows.header, transactions, payments, logs };
  };
}

/** A whole block; a failure if a transaction or log is missing before another. */
export function wholeBlock(rows: BlockRows): BatchBlock | HistoryFailure {
  const missing = rows.transactions.findIndex(
    ({ transaction }, place) => transaction.transactionIndex !== place,
  );
  if (missing >= 0) return gap(rows, `transaction ${missing}`);
  const missingLog = rows.logs.findIndex(({ logIndex }, place) => logIndex !== place);
  if (missingLog >= 0) return gap(rows, `log ${missingLog}`);
  const transactions = withLogs(rows, rows.transactions);
  if ("kind" in transactions) return transactions;
  const held = transactions.reduce((sum, { receipt }) => sum + receipt.logs.length, 0);
  if (held < rows.logs.length) return gap(rows, "the transaction of a log");
  return { header: rows.header, transactions };
}

/** The transactions with their logs, whose numbers follow each other. */
function withLogs(
  rows: BlockRows,
  transactions: readonly MinedRow[],
): readonly BatchTransaction[] | HistoryFailure {
  const byHash = Map.groupBy(rows.logs, (log) => log.transactionHash);
  const whole: BatchTransaction[] = [];
  for (const { transaction, receipt } of transactions) {
    const logs = byHash.get(transaction.hash) ?? [];
    const first = logs[0]?.logIndex ?? 0;
    if (logs.some(({ logIndex }, place) => logIndex !== first + place))
      return gap(rows, `a log of ${transaction.hash}`);
    if (receipt.status === "0x0" && logs.length > 0)
      return historyFailure("inconsistent", `${transaction.hash} failed and has logs`);
    const { input } = transaction;
    if (input === null) return gap(rows, `the calldata of ${transaction.hash}`);
    whole.push({ transaction: { ...transaction, input }, receipt: { ...receipt, logs } });
  }
  return whole;
}

function paymentsIn(
  { header, transactions }: BlockRows,
  wallets: ReadonlySet<Address>,
): readonly NativePayment[] {
  return transactions.flatMap(({ transaction, receipt }) => {
    const { hash, transactionIndex, from, to, value } = transaction;
    const isPayment = to !== null && to !== undefined && wallets.has(to) && !wallets.has(from) && value > 0n;
    if (!isPayment || receipt.status === "0x0") return [];
    return [{ hash, block: header.number, transactionIndex, timestamp: header.timestamp, value, from, to }];
  });
}

function gap({ header }: BlockRows, what: string): HistoryFailure {
  return historyFailure("inconsistent", `block ${header.number} lacks ${what}`);
}
