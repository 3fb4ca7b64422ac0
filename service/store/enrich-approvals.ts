import type { ClientBase } from "pg";
import type { Address, Hex } from "viem";
import { QUERY_DEADLINE } from "./query-deadline.ts";
import type { ApprovalKind } from "./tables/enrich.ts";

/** An approval that its owner gave and that is in force. */
export type LiveApproval = {
  readonly owner: Address;
  readonly token: Address;
  readonly spender: Address;
  readonly kind: ApprovalKind;
  /** What is left of it. */
  readonly amount: bigint | null;
  readonly tokenId: bigint | null;
  /** Where the owner last gave it. */
  readonly block: number;
  /** Unix seconds. */
  readonly timestamp: number;
  readonly transactionHash: Hex;
};

type Row = Omit<LiveApproval, "amount" | "tokenId"> & {
  readonly amount: string | null;
  readonly tokenId: string | null;
};

/**
 * Approvals of the wallets in force as of a block, by owner, token and spender. One counts that the owner gave in a call or an
 * execution of its own and did not take back there; what is left of it says the newest log, whoever sent that: tokens log an
 * approval anew when a spender draws on it, and could log any more than the owner gave. Amounts that no log tells to be
 * spent, and an ERC-721 token that moved on, are not subtracted.
 */
export async function readLiveApprovals(
  client: ClientBase,
  query: { readonly chainId: number; readonly wallets: readonly Address[]; readonly asOfBlock: number },
): Promise<readonly LiveApproval[]> {
  const { rows } = await client.query<Row>({
    ...QUERY_DEADLINE,
    name: "live-approvals",
    text: APPROVALS,
    values: [query.chainId, query.wallets, query.asOfBlock],
  });
  return rows.map((row) => ({
    ...row,
    amount: row.amount === null ? null : BigInt(row.amount),
    tokenId: row.tokenId === null ? null : BigInt(row.tokenId),
  }));
}

/** $1 chain, $2 wallets, $3 newest block. Of an ERC-721 token one spender replaces the other. */
const APPROVALS = `
  with logs as materialized (
    select a.*, case kind when 'token' then token_id::text else spender end as subject,
      (sender is not null and sender = owner) or exists (
        select from ahs.own_call c
        where c.chain_id = a.chain_id and c.wallet = a.owner and c.block = a.block and c.hash = a.transaction_hash
      ) as own
    from ahs.enrich_approval a
    where chain_id = $1 and owner = any($2::text[]) and block <= $3
  ), newest as (
    select distinct on (owner, token, kind, subject) * from logs
    order by owner, token, kind, subject, block desc, log_index desc
  ), given as (
    select distinct on (owner, token, kind, subject) * from logs where own
    order by owner, token, kind, subject, block desc, log_index desc
  )
  select owner, token, given.spender, kind, least(given.amount, newest.amount)::text as amount,
    given.token_id::text as "tokenId", given.block::float8 as block, given.timestamp::float8 as timestamp,
    given.transaction_hash as "transactionHash"
  from given join newest using (owner, token, kind, subject)
  where given.approved and newest.approved and given.spender = newest.spender
  order by owner collate "C", token collate "C", kind collate "C", subject collate "C"`;
