import type { QueryConfig } from "pg";
import type { Address, Hex } from "viem";
import { type Database, NUMERIC_AS_BIGINT, rowsInTime } from "../../db/database.ts";
import type { TokenStandard } from "../../db/tables/enrich.ts";
import {
  transfersDrawn,
  transfersReceived,
  transfersReturned,
  transfersSent,
} from "./wallet-transfers.sql.ts";

type TransferQuery = {
  /** Lower-case. */
  readonly wallet: Address;
  readonly throughBlock: number;
  /** Unix seconds of the first moment. */
  readonly since: number;
};

/** One transfer of native coin (zero address as token) or an ERC-20 token between the wallet and a peer. */
export type Movement = {
  readonly token: Address;
  readonly peer: Address;
  /** In the token's smallest unit, above 0. */
  readonly amount: bigint;
  readonly block: number;
  /** Unix seconds. */
  readonly timestamp: number;
  readonly hash: Hex;
  /** Index among the logs of the block; negative for native coin. */
  readonly logIndex: number;
};

/** Transfers of one token in others' transactions. */
export type ReceivedToken = {
  readonly token: Address;
  readonly standard: TokenStandard;
  readonly transfers: number;
  readonly senders: number;
  /** Sum in the token's smallest unit; null for ERC-721, which moves single ids. */
  readonly amount: bigint | null;
  /** Unix seconds of the last one. */
  readonly lastAt: number;
};

/** Reads transfers of followed wallets. Any contract can log a false transfer. */
export type TransferReader = ReturnType<typeof createTransferReader>;
export type Exchanges = Awaited<ReturnType<TransferReader["exchanges"]>>;
export type Received = Awaited<ReturnType<TransferReader["received"]>>;

/** Most transfers read per direction, so that spam cannot slow an answer. */
const MOST_TRANSFERS = 20_000;
const MOST_EXCHANGES = 5_000;

export function createTransferReader(db: Database, chainId: number) {
  const read = <Row extends object>(statement: QueryConfig) =>
    rowsInTime<Row>(db, { ...NUMERIC_AS_BIGINT, ...statement });
  return {
    /** Transfers by the wallet itself, and transfers from its recipients, newest first. */
    async exchanges(of: TransferQuery): Promise<{
      readonly sent: readonly Movement[];
      readonly returned: readonly Movement[];
      readonly truncated: boolean;
    }> {
      const values = { ...of, chainId, limit: MOST_EXCHANGES + 1 };
      const sent = await read<Movement>(transfersSent(values));
      const peers = [...new Set(sent.map(({ peer }) => peer))];
      const returned =
        peers.length === 0 ? [] : await read<Movement>(transfersReturned({ ...values, peers }));
      return {
        sent: sent.slice(0, MOST_EXCHANGES),
        returned: returned.slice(0, MOST_EXCHANGES),
        truncated: sent.length > MOST_EXCHANGES || returned.length > MOST_EXCHANGES,
      };
    },
    /** Incoming transfers outside of the wallet's own calls: most transfers first, then by token. */
    async received(of: TransferQuery) {
      const values = { ...of, chainId, limit: MOST_TRANSFERS + 1 };
      const rows = await read<ReceivedToken & { read: number }>(transfersReceived(values));
      return {
        tokens: rows.filter(({ transfers }) => transfers > 0).map(({ read: _read, ...token }) => token),
        /** Whether older transfers were left out for their number. */
        truncated: rows.reduce((sum, row) => sum + row.read, 0) > MOST_TRANSFERS,
      };
    },
    /** Tokens that others' transactions took out of the wallet by an approval. Null if there are too many transfers to read. */
    async drawnTokens(of: TransferQuery): Promise<ReadonlySet<Address> | null> {
      const values = { ...of, chainId, limit: MOST_TRANSFERS + 1 };
      const rows = await read<{ token: Address; drawn: boolean; read: number }>(transfersDrawn(values));
      if (rows.reduce((sum, row) => sum + row.read, 0) > MOST_TRANSFERS) return null;
      return new Set(rows.filter(({ drawn }) => drawn).map(({ token }) => token));
    },
  };
}
