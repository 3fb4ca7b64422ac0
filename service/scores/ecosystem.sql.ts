/** Changes of grade in the oracle, each with the intent before it: the builder has no lateral read of one row within a bounded table. */
import { type SQL, sql } from "drizzle-orm";
import type { Address, Hex } from "viem";
import type { Grade } from "../model/score/record.ts";

/** A grade in the oracle that is another than the one before; null for a record without enough history. */
export type GradeChange = {
  /** Lower-case. */
  readonly wallet: Address;
  readonly from: Grade | null;
  readonly to: Grade | null;
  /** When the transaction was mined. */
  readonly at: Date;
  readonly transactionHash: Hex;
};

/** Publications read: most are heartbeats and moves within a grade. */
const PUBLICATIONS_READ = 2_000;
const CHANGES = 50;

/** The previous grade is that of the wallet's confirmed intent before, found by the index of a wallet's intents. */
export function gradeChanges(chainId: number): SQL {
  return sql`
    select newest.wallet, was.grade as from, became.grade as to, sent.mined_at as at, sent.mined_hash as "transactionHash"
    from (
      select id, wallet, score_id, reason, sender_transaction_id from ahs.publish_intent
      where chain_id = ${chainId} and state = 'confirmed' order by id desc limit ${PUBLICATIONS_READ}
    ) as newest
    join ahs.score as became on became.id = newest.score_id
    join ahs.sender_transaction as sent
      on sent.id = newest.sender_transaction_id and sent.mined_hash is not null and sent.mined_at is not null
    cross join lateral (
      select score_id from ahs.publish_intent
      where chain_id = ${chainId} and wallet = newest.wallet and id < newest.id and state = 'confirmed'
      order by id desc limit 1
    ) as earlier
    join ahs.score as was on was.id = earlier.score_id
    where newest.reason in ('grade', 'flag') and was.grade is distinct from became.grade
    order by newest.id desc limit ${CHANGES}`;
}
