import type { Address, Hex } from "viem";
import type { IndexedBlock } from "../store/enrich-reads.ts";
import type { EnrichRows } from "../store/enrich-writes.ts";
import { type DecodedLog, decodeLog } from "./decode-log.ts";
import { EnrichFailure } from "./failure.ts";
import type { RawLog } from "./raw-log.ts";

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
};

export type LogRows = Pick<EnrichRows, "transfers" | "approvals" | "userOperations">;

/**
 * The rows of all logs that say something of a followed wallet since it is followed; other and malformed logs give none.
 * Throws an EnrichFailure for a log of a block that the index does not have.
 */
export function logRows(facts: LogFacts): LogRows {
  const rows = { transfers: [], approvals: [], userOperations: [] } as {
    [Kind in keyof LogRows]: LogRows[Kind][number][];
  };
  for (const log of facts.logs) {
    const decoded = decodeLog(log);
    if (decoded === null || !concerns(decoded, log.blockNumber, facts.followed)) continue;
    const place = placeOf(log, facts);
    const sender = facts.senders.get(log.transactionHash) ?? null;
    switch (decoded.event) {
      case "transfer":
        decoded.movements.forEach((movement, item) => {
          rows.transfers.push({ ...place, ...movement, item, token: log.address, sender });
        });
        break;
      case "approval":
        rows.approvals.push({ ...place, ...decoded.approval, token: log.address, sender });
        break;
      case "user_operation":
        rows.userOperations.push({ ...place, ...decoded.operation, entryPoint: log.address });
        break;
    }
  }
  return rows;
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
    throw new EnrichFailure(
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
