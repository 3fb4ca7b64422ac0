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

type Rows = Pick<EnrichRows, "transfers" | "approvals" | "userOperations">;
export type LogRows = Rows & {
  /** Movements of batches that are not among the rows for their number. */
  readonly batchItemsLeftOut: number;
};

/**
 * The rows of all logs that say something of a followed wallet since it is followed; other and malformed logs give none.
 * Throws a NodeFailure for a log of a block that the index does not have.
 */
export function logRows(facts: LogFacts): LogRows {
  const rows = { transfers: [], approvals: [], userOperations: [] } as {
    [Kind in keyof Rows]: Rows[Kind][number][];
  };
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
          rows.transfers.push({ ...place, ...movement, item, token: log.address, sender });
        });
        break;
      case "approval": {
        const { approval } = decoded;
        const subject = approval.kind === "token" ? String(approval.tokenId) : approval.spender;
        const own =
          sender === approval.owner || facts.executedApprovals.has(approvalKey(approval.owner, log));
        rows.approvals.push({ ...place, ...approval, token: log.address, subject, own });
        break;
      }
      case "user_operation":
        // Any contract can log one of any account.
        if (!facts.entryPoints.has(log.address)) break;
        rows.userOperations.push({ ...place, ...decoded.operation, entryPoint: log.address });
        break;
    }
  }
  return { ...rows, batchItemsLeftOut };
}

/** Whether a log says something of a wallet that is followed at its block. */
export function concerns(decoded: DecodedLog, block: number, followed: Followed): boolean {
  return partiesOf(decoded).some((party) => {
    const since = followed.get(party);
    return since !== undefined && since <= block;
  });
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
  const block = blocks.get(log.blockNumber);
  if (block === undefined || block.hash !== log.blockHash) {
    throw new NodeFailure(
      "other_chain",
      `block ${log.blockNumber} is ${block?.hash ?? "not there"} in the index and ${log.blockHash} at the node`,
    );
  }
  return {
    chainId,
    block: log.blockNumber,
    logIndex: log.logIndex,
    transactionHash: log.transactionHash,
    timestamp: block.timestamp,
  };
}

type TransferRow = EnrichRows["transfers"][number];

/** Native coin in own transactions and in payments to followed wallets. Failed transactions and executions move none. */
export function nativeTransfers(
  chainId: number,
  calls: readonly OwnCallRow[],
  payments: readonly NativePayment[],
): readonly TransferRow[] {
  const sent = calls.flatMap((call) => {
    const { to, value, wallet, position } = call;
    if (to === null || to === undefined || value === 0n || !call.ok || position > 0) return [];
    const logIndex = ofTransaction(call.transactionIndex);
    return [row(chainId, { ...call, to, from: wallet, sender: wallet, logIndex })];
  });
  const received = payments.map((payment) =>
    row(chainId, { ...payment, sender: null, logIndex: ofTransaction(payment.transactionIndex) }),
  );
  return [...sent, ...received];
}

/** No log has it, since those count from 0. */
function ofTransaction(index: number): number {
  return -1 - index;
}

function row(
  chainId: number,
  moved: {
    readonly block: number;
    readonly logIndex: number;
    readonly hash: Hex;
    readonly timestamp: number;
    readonly from: Address;
    readonly to: Address;
    readonly value: bigint;
    readonly sender: Address | null;
  },
): TransferRow {
  const { block, logIndex, hash, timestamp, from, to, value, sender } = moved;
  return {
    ...{ chainId, block, logIndex, item: 0, timestamp, from, to, sender },
    transactionHash: hash,
    token: zeroAddress satisfies Address,
    standard: "native",
    amount: value,
    tokenId: null,
  };
}
