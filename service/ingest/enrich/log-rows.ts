import { sql } from "drizzle-orm";
import { type Address, type Hex, zeroAddress } from "viem";
import { NodeFailure } from "../../chain/node/failure.ts";
import type { RawLog } from "../../chain/node/rpc-answers.ts";
import type { Database } from "../../db/database.ts";
import { type DecodedLog, decodeLog } from "./decode-log.ts";
import type { IndexedBlock, NativePayment } from "./enrich-reads.ts";
import type { EnrichRows } from "./enrich-writes.ts";
import type { OwnCallRow } from "./own-call.ts";

/** Wallets that are read for, with the first block of each. */
export type Followed = ReadonlyMap<Address, number>;

export type LogFacts = {
  readonly chainId: number;
  readonly logs: readonly RawLog[];
  readonly followed: Followed;
  /** Blocks of the index, at least those of the logs. */
  readonly blocks: ReadonlyMap<number, IndexedBlock>;
  /** Senders of own calls by transaction hash. */
  readonly senders: ReadonlyMap<Hex, Address>;
  /** Approvals within what accounts executed, see `approvalKey`. */
  readonly executedApprovals: ReadonlySet<string>;
  /** Trusted entry points, lower-case. */
  readonly entryPoints: ReadonlySet<Address>;
};

/** Names a log as within an execution of an account. */
export function approvalKey(account: Address, { transactionHash, logIndex }: RawLog): string {
  return `${account} ${transactionHash} ${logIndex}`;
}

/**
 * The rows of logs about followed wallets; malformed logs give none. batchItemsLeftOut: movements of batches that are not among
 * the rows for their number. Throws a NodeFailure for a block that the index lacks.
 */
export function logRows(facts: LogFacts) {
  const transfers: EnrichRows["transfers"][number][] = [];
  const approvals: EnrichRows["approvals"][number][] = [];
  const userOperations: EnrichRows["userOperations"][number][] = [];
  let batchItemsLeftOut = 0;
  for (const log of facts.logs) {
    const decoded = decodeLog(log);
    if (decoded === null || !concerns(decoded, log.blockNumber, facts.followed)) continue;
    const place = placeOf(log, facts);
    const sender = facts.senders.get(log.transactionHash) ?? null;
    switch (decoded.event) {
      case "transfer":
        batchItemsLeftOut += decoded.leftOut;
        decoded.movements.forEach((movement, item) => {
          transfers.push({ ...place, ...movement, item, token: log.address, sender });
        });
        break;
      case "approval": {
        const { approval } = decoded;
        const subject = approval.kind === "token" ? String(approval.tokenId) : approval.spender;
        const own =
          sender === approval.owner || facts.executedApprovals.has(approvalKey(approval.owner, log));
        approvals.push({ ...place, ...approval, token: log.address, subject, own });
        break;
      }
      case "user_operation":
        // Any contract can log one of any account.
        if (!facts.entryPoints.has(log.address)) break;
        userOperations.push({ ...place, ...decoded.operation, entryPoint: log.address });
        break;
    }
  }
  return { transfers, approvals, userOperations, batchItemsLeftOut };
}

/** Whether a log says something of a wallet that is followed at its block. */
export function concerns(decoded: DecodedLog, block: number, followed: Followed): boolean {
  return partiesOf(decoded).some((party) => isFollowed(followed, party, block));
}

export function isFollowed(followed: Followed, account: Address, block: number): boolean {
  const since = followed.get(account);
  return since !== undefined && since <= block;
}

function partiesOf(decoded: DecodedLog): readonly Address[] {
  switch (decoded.event) {
    case "transfer": {
      const [first] = decoded.movements;
      return first === undefined ? [] : [first.from, first.to];
    }
    case "approval":
      return [decoded.approval.owner];
    case "user_operation":
      return [decoded.operation.wallet];
  }
}

function placeOf(log: RawLog, { chainId, blocks }: LogFacts) {
  const { blockNumber: block, logIndex, transactionHash } = log;
  return { chainId, block, logIndex, transactionHash, timestamp: timeOf(log, blocks) };
}

/** Unix seconds of a log's block. Throws a NodeFailure where the index has another block, or none. */
export function timeOf({ blockNumber, blockHash }: RawLog, blocks: LogFacts["blocks"]): number {
  const block = blocks.get(blockNumber);
  if (block?.hash === blockHash) return block.timestamp;
  const known = block?.hash ?? "not there";
  throw new NodeFailure(
    "other_chain",
    `block ${blockNumber} is ${known} in the index and ${blockHash} at the node`,
  );
}

/** Native coin in own calls, as far as it is known, and in payments to followed wallets. Failed calls move none. */
export function nativeTransfers(
  chainId: number,
  calls: readonly OwnCallRow[],
  payments: readonly NativePayment[],
): EnrichRows["transfers"] {
  const sent = calls.flatMap((call) => {
    const { to, value, wallet, position } = call;
    if (to === null || to === undefined || value === null || value === undefined) return [];
    if (value === 0n || !call.ok) return [];
    return { ...call, to, value, item: position, from: wallet, sender: wallet };
  });
  const received = payments.map((payment) => ({ ...payment, item: 0, sender: null }));
  return [...sent, ...received].map(
    ({ block, transactionIndex, item, hash, timestamp, from, to, value, sender }) => ({
      chainId,
      block,
      item,
      timestamp,
      from,
      to,
      sender,
      // No log has it, since those count from 0.
      logIndex: -1 - transactionIndex,
      transactionHash: hash,
      token: zeroAddress,
      standard: "native",
      amount: value,
      tokenId: null,
    }),
  );
}

type TransferRow = EnrichRows["transfers"][number];

/** Transfers of one listed token, or of native coin, of a wallet in a block: five hundred payments a second on Base. */
const LISTED_PER_BLOCK = 1_000;
/** Transfers of other tokens in one own call of a wallet: as many as one careful call can pay. */
const OWN_PER_CALL = 256;
/** Transfers of one other token that others claim of a wallet in a block. */
const CLAIMED_PER_TOKEN = 8;
/** The same of all other tokens: such logs cost some hundred gas and can claim anything. */
const CLAIMED_PER_BLOCK = 16;
/** Seconds that a claim is kept: no report looks further back for who draws on approvals. */
const CLAIMED_STORED_SECONDS = 90 * 86_400;
/** Approvals of other than listed tokens in one own call, which a contract that it calls may log in any number. */
const APPROVALS_PER_CALL = 64;

/**
 * Bounds the transfers that logs claim. Of listed tokens, which move as they say, first what the wallet sent counts, then what
 * its own calls brought, then the rest, the largest first of each. Of others some of an own call stay, and for a time a few more.
 */
export function boundTransfers(
  rows: readonly TransferRow[],
  {
    followed,
    listed,
    isOwn,
  }: {
    readonly followed: Followed;
    readonly listed: ReadonlySet<Address>;
    readonly isOwn: (wallet: Address, transactionHash: Hex) => boolean;
  },
) {
  const stored = new Map<TransferRow, "for good" | "for a time">();
  for (const [wallet, moved] of byFollowed(rows, followed)) {
    // Any account can transfer zero of a token in the name of another.
    const isSure = ({ standard, token, amount }: TransferRow) =>
      (standard === "native" || listed.has(token)) && amount !== 0n;
    const isOwnCall = ({ transactionHash }: TransferRow) => isOwn(wallet, transactionHash);
    const {
      sure = [],
      own = [],
      claimed = [],
    } = Object.groupBy(moved, (row) => (isSure(row) ? "sure" : isOwnCall(row) ? "own" : "claimed"));
    // Only what the wallet sent cannot be made by others for the price of gas, not even in a bundle with one of its operations.
    const rank = (row: TransferRow) => (row.from === wallet ? 0 : isOwnCall(row) ? 1 : 2);
    const most = takeOfEach(
      sure.toSorted((a, b) => rank(a) - rank(b) || byAmount(a, b)),
      LISTED_PER_BLOCK,
      ({ block, token }) => `${block} ${token}`,
    );
    const ofCalls = takeOfEach(own, OWN_PER_CALL, ({ transactionHash }) => transactionHash);
    const perToken = takeOfEach(claimed, CLAIMED_PER_TOKEN, ({ block, token }) => `${block} ${token}`);
    for (const row of takeOfEach(perToken, CLAIMED_PER_BLOCK, ({ block }) => `${block}`))
      if (!stored.has(row)) stored.set(row, "for a time");
    for (const row of [...most, ...ofCalls]) stored.set(row, "for good");
  }
  const left = rows.flatMap((row) => {
    const how = stored.get(row);
    if (how === undefined) return [];
    return [how === "for good" ? row : { ...row, storedUntil: row.timestamp + CLAIMED_STORED_SECONDS }];
  });
  return { stored: left, leftOut: rows.length - left.length };
}

/** The approvals that are kept of what logs claim: of an own call all of listed tokens and some of others. */
export function boundApprovals(rows: EnrichRows["approvals"], listed: ReadonlySet<Address>) {
  const isBounded = ({ own, token }: (typeof rows)[number]) => own && !listed.has(token);
  const some = takeOfEach(
    rows.filter(isBounded),
    APPROVALS_PER_CALL,
    ({ owner, transactionHash }) => `${owner} ${transactionHash}`,
  );
  const taken = new Set(some);
  const stored = rows.filter((row) => !isBounded(row) || taken.has(row));
  return { stored, leftOut: rows.length - stored.length };
}

/** Rows of each wallet that was followed by then; one of two such wallets is of both. */
function byFollowed(rows: readonly TransferRow[], followed: Followed) {
  const found = new Map<Address, TransferRow[]>();
  for (const row of rows)
    for (const party of new Set([row.from, row.to])) {
      if (!isFollowed(followed, party, row.block)) continue;
      const known = found.get(party);
      if (known === undefined) found.set(party, [row]);
      else known.push(row);
    }
  return found;
}

/** The first rows of each key. */
function takeOfEach<Row>(rows: readonly Row[], most: number, keyOf: (row: Row) => string): readonly Row[] {
  const counts = new Map<string, number>();
  return rows.filter((row) => {
    const key = keyOf(row);
    const count = counts.get(key) ?? 0;
    counts.set(key, count + 1);
    return count < most;
  });
}

function byAmount({ amount: a }: TransferRow, { amount: b }: TransferRow): number {
  const [first, second] = [a ?? 0n, b ?? 0n];
  return first === second ? 0 : first > second ? -1 : 1;
}

/** Rows of one statement, so that none runs into its time limit. */
const BATCH = 5_000;

/** Deletes a batch of expired transfers as of `now` (Unix seconds of chain time). Returns their number, and whether more are due. */
export async function dropClaimedTransfers(db: Database, chainId: number, now: number) {
  const { rowCount } = await db.execute(sql`
    delete from ahs.enrich_transfer where (chain_id, block, log_index, item) in (
      select chain_id, block, log_index, item from ahs.enrich_transfer
      where chain_id = ${chainId} and stored_until < ${now} order by stored_until limit ${BATCH})`);
  const dropped = rowCount ?? 0;
  return { dropped, more: dropped === BATCH };
}
