import { type Address, type Hex, zeroAddress } from "viem";
import { NodeFailure } from "../../chain/node/failure.ts";
import type { RawLog } from "../../chain/node/rpc-answers.ts";
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

/** batchItemsLeftOut: movements of batches that are not among the rows for their number. */
export type LogRows = ReturnType<typeof logRows>;

/** The rows of logs about followed wallets; malformed logs give none. Throws a NodeFailure for a block that the index lacks. */
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

/** Native coin in own transactions and in payments to followed wallets. Failed transactions and executions move none. */
export function nativeTransfers(
  chainId: number,
  calls: readonly OwnCallRow[],
  payments: readonly NativePayment[],
): EnrichRows["transfers"] {
  const sent = calls.flatMap((call) => {
    const { to, value, wallet, position } = call;
    if (to === null || to === undefined || value === 0n || !call.ok || position > 0) return [];
    return { ...call, to, from: wallet, sender: wallet };
  });
  const received = payments.map((payment) => ({ ...payment, sender: null }));
  return [...sent, ...received].map(
    ({ block, transactionIndex, hash, timestamp, from, to, value, sender }) => ({
      ...{ chainId, block, item: 0, timestamp, from, to, sender },
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
