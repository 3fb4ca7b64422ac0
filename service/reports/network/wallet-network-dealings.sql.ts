import { sql } from "drizzle-orm";
import { type Address, zeroAddress } from "viem";
import { prepared } from "../../db/statement.ts";
import { SECONDS_PER_DAY } from "../../model/features/time.ts";
import { IS_OWN } from "../profit-and-loss/wallet-transfers.sql.ts";

// No bench row measures this; it shares parts that the builder cannot name, and sums numbers of the chain.

/** Most incoming transfers read: more would add little and take seconds. */
const MAX_INCOMING = 50_000;

/** Reads one transfer more than the limit, to detect that there are more. */
export const incomingTransfers = prepared<{
  readonly chainId: number;
  readonly wallet: Address;
  readonly throughBlock: number;
  readonly since: number;
  readonly listed: readonly Address[];
}>(
  "incoming-transfers",
  sql`
  select "from", nullif(token, ${zeroAddress}) as token, sum(amount) as amount, count(*)::int as transfers,
    min(timestamp)::float8 as "firstAt", max(timestamp)::float8 as "lastAt", place > ${MAX_INCOMING} as beyond
  from (
    select t."from", t.token, t.amount, t.timestamp,
      row_number() over (order by t.block desc, t.log_index desc, t.item desc) as place
    from ahs.enrich_transfer t
    where t.chain_id = ${sql.placeholder("chainId")} and t."to" = ${sql.placeholder("wallet")} and t.block <= ${sql.placeholder("throughBlock")} and t.timestamp >= ${sql.placeholder("since")}
      and t.amount > 0 and t."from" not in (${sql.placeholder("wallet")}, ${zeroAddress}) and not ${IS_OWN}
      and (t.standard = 'native' or t.standard = 'erc20' and t.token = any(${sql.placeholder("listed")}::text[]))
    order by t.block desc, t.log_index desc, t.item desc limit ${MAX_INCOMING + 1}
  ) newest
  group by "from", newest.token, timestamp / ${SECONDS_PER_DAY}, beyond
  order by "from", newest.token, "firstAt"`,
);
