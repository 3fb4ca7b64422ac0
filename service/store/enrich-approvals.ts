import type { ClientBase } from "pg";
import type { Address, Hex } from "viem";
import type { ApprovalKind } from "./tables/enrich.ts";

/** An approval that nothing newer of its owner has replaced. */
export type LiveApproval = {
  readonly owner: Address;
  readonly token: Address;
  readonly spender: Address;
  readonly kind: ApprovalKind;
  readonly amount: bigint | null;
  readonly tokenId: bigint | null;
  readonly block: number;
  /** Unix seconds. */
  readonly timestamp: number;
  readonly transactionHash: Hex;
  readonly sender: Address | null;
};

type Row = Omit<LiveApproval, "amount" | "tokenId"> & {
  readonly amount: string | null;
  readonly tokenId: string | null;
};

/**
 * Approvals of the wallets in force as of a block, by owner, token and spender: the newest log of each counts, and those
 * that take an approval back leave nothing. Amounts spent, and an ERC-721 token that moved on, are not subtracted.
 */
export async function readLiveApprovals(
  client: ClientBase,
  query: { readonly chainId: number; readonly wallets: readonly Address[]; readonly asOfBlock: number },
): Promise<readonly LiveApproval[]> {
  const { rows } = await client.query<Row>(
    `select owner, token, spender, kind, amount::text, token_id::text as "tokenId", block::float8 as block,
       timestamp::float8 as timestamp, transaction_hash as "transactionHash", sender
     from (
       select distinct on (owner, token, kind, subject) *
       from (
         select *, case kind when 'token' then token_id::text else spender end as subject
         from ahs.enrich_approval
         where chain_id = $1 and owner = any($2::text[]) and block <= $3
       ) approvals
       order by owner, token, kind, subject, block desc, log_index desc
     ) newest
     where approved
     order by owner collate "C", token collate "C", kind collate "C", subject collate "C"`,
    [query.chainId, query.wallets, query.asOfBlock],
  );
  return rows.map((row) => ({
    ...row,
    amount: row.amount === null ? null : BigInt(row.amount),
    tokenId: row.tokenId === null ? null : BigInt(row.tokenId),
  }));
}
