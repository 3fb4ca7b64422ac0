/** An insert of those of many wallets that may be asked for, bounded by what its payer has waiting: the builder inserts no bounded select. */
import { type SQL, sql } from "drizzle-orm";
import { indexOf } from "../db/index-tables.ts";
import { enrolment } from "../db/tables/history.ts";

/** Requests of one payer that may wait. Its further ones are not stored, and can be paid for again on a later day. */
const MOST_WAITING = 200;

export function insertEnrolments({
  chainId,
  wallets,
  requestedBy,
  now,
}: {
  readonly chainId: number;
  readonly wallets: readonly string[];
  /** Who paid: key:ID or wallet:ADDRESS. */
  readonly requestedBy: string;
  readonly now: Date;
}): SQL {
  const { wallet } = indexOf(chainId);
  return sql`
    insert into ${enrolment} (chain_id, wallet, state, requested_at, cause, requested_by)
    select ${chainId}, wallet, 'pending', ${now.toISOString()}::timestamptz, 'paid', ${requestedBy}
    from unnest(${sql.param(wallets)}::text[]) as wanted (wallet)
    where exists (select from ahs.own_call where chain_id = ${chainId} and own_call.wallet = wanted.wallet)
      and not exists (select from ${wallet} where ${wallet.address} = wanted.wallet)
      and not exists (select from ahs.unfollowed where chain_id = ${chainId} and address = wanted.wallet)
    order by wallet
    limit greatest(0, ${MOST_WAITING} - (select count(*) from ${enrolment}
      where chain_id = ${chainId} and state = 'pending' and requested_by = ${requestedBy}))
    on conflict (chain_id, wallet) do update set cause = 'paid', requested_by = excluded.requested_by
    where enrolment.cause <> 'paid'`;
}
