import { type Address, type Hex, zeroAddress } from "viem";
import { type Database, NUMERIC_AS_BIGINT, QUERY_DEADLINE } from "../../db/database.ts";
import type { TokenStandard } from "../../db/tables/enrich.ts";

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
  const read = async <Row extends object>(name: string, text: string, values: readonly unknown[]) => {
    const statement = { ...QUERY_DEADLINE, ...NUMERIC_AS_BIGINT, name, text, values: [...values] };
    return (await db.$client.query<Row>(statement)).rows;
  };
  return {
    /** Transfers by the wallet itself, and transfers from its recipients, newest first. */
    async exchanges({ wallet, throughBlock, since }: TransferQuery): Promise<{
      readonly sent: readonly Movement[];
      readonly returned: readonly Movement[];
      readonly truncated: boolean;
    }> {
      const values = [chainId, wallet, throughBlock, since, MOST_EXCHANGES + 1];
      const sent = await read<Movement>("transfers_sent", SENT, values);
      const peers = [...new Set(sent.map(({ peer }) => peer))];
      const returned =
        peers.length === 0 ? [] : await read<Movement>("transfers_returned", RETURNED, [...values, peers]);
      return {
        sent: sent.slice(0, MOST_EXCHANGES),
        returned: returned.slice(0, MOST_EXCHANGES),
        truncated: sent.length > MOST_EXCHANGES || returned.length > MOST_EXCHANGES,
      };
    },
    /** Incoming transfers outside of the wallet's own calls: most transfers first, then by token. */
    async received({ wallet, throughBlock, since }: TransferQuery) {
      const values = [chainId, wallet, throughBlock, since, MOST_TRANSFERS + 1];
      const rows = await read<ReceivedToken & { read: number }>("transfers_received", RECEIVED, values);
      return {
        tokens: rows.filter(({ transfers }) => transfers > 0).map(({ read: _read, ...token }) => token),
        /** Whether older transfers were left out for their number. */
        truncated: rows.reduce((sum, row) => sum + row.read, 0) > MOST_TRANSFERS,
      };
    },
    /** Tokens that others' transactions took out of the wallet by an approval. Null if there are too many transfers to read. */
    async drawnTokens({ wallet, throughBlock, since }: TransferQuery): Promise<ReadonlySet<Address> | null> {
      const values = [chainId, wallet, throughBlock, since, MOST_TRANSFERS + 1];
      const rows = await read<{ token: Address; drawn: boolean; read: number }>(
        "transfers_drawn",
        DRAWN,
        values,
      );
      if (rows.reduce((sum, row) => sum + row.read, 0) > MOST_TRANSFERS) return null;
      return new Set(rows.filter(({ drawn }) => drawn).map(({ token }) => token));
    },
  };
}

/**
 * SQL: whether a transfer t happened in an own call of $2 on chain $1, a transaction or an execution, or is the payment that it
 * signed: the log after the one of the authorization, which the call's position is.
 */
export const IS_OWN = `(t.sender is not distinct from $2 or exists (
  select from ahs.own_call c
  where c.chain_id = $1 and c.wallet = $2 and c.block = t.block and c.hash = t.transaction_hash
    and (c.origin <> 'authorization' or c.position = t.log_index)))`;

const MOVEMENT = `t.token, t.amount, t.block::float8 as block, t.timestamp::float8 as timestamp,
  t.transaction_hash as hash, t.log_index as "logIndex"`;

const NEWEST_FIRST = "order by t.block desc, t.log_index desc, t.item desc limit $5";

/** $1 chain, $2 wallet, $3 last block, $4 first time, $5 limit. */
const SENT = `
  select ${MOVEMENT}, t."to" as peer from ahs.enrich_transfer t
  where t.chain_id = $1 and t."from" = $2 and t."to" <> $2 and t."to" <> '${zeroAddress}' and t.block <= $3
    and t.timestamp >= $4 and t.standard in ('native', 'erc20') and t.amount > 0 and ${IS_OWN}
  ${NEWEST_FIRST}`;

/** The same; $6 are the senders. */
const RETURNED = `
  select ${MOVEMENT}, t."from" as peer from ahs.enrich_transfer t
  where t.chain_id = $1 and t."to" = $2 and t."from" = any($6::text[]) and t.block <= $3
    and t.timestamp >= $4 and t.standard in ('native', 'erc20') and t.amount > 0
  ${NEWEST_FIRST}`;

const RECEIVED = `
  select token, standard, count(*) filter (where not own)::int as transfers,
    count(distinct "from") filter (where not own)::int as senders,
    sum(amount) filter (where not own) as amount,
    max(timestamp) filter (where not own)::float8 as "lastAt", count(*)::int as read
  from (
    select t.token, t.standard, t."from", t.amount, t.timestamp, ${IS_OWN} as own from ahs.enrich_transfer t
    where t.chain_id = $1 and t."to" = $2 and t."from" <> $2 and t.block <= $3 and t.timestamp >= $4
    ${NEWEST_FIRST}
  ) newest
  group by token, standard
  order by transfers desc, token collate "C", standard`;

const DRAWN = `
  select token, bool_or(not own) as drawn, count(*)::int as read from (
    select t.token, ${IS_OWN} as own from ahs.enrich_transfer t
    where t.chain_id = $1 and t."from" = $2 and t.block <= $3 and t.timestamp >= $4
    ${NEWEST_FIRST}
  ) newest
  group by token`;
