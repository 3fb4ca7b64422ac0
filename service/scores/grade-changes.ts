import type { Address, Hex } from "viem";
import type { Database } from "../db/database.ts";
import { QUERY_DEADLINE } from "../db/query-deadline.ts";
import { remembered } from "../db/remembered.ts";
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

/** Publications that are looked through: most are heartbeats and moves within a grade. */
const PUBLICATIONS_READ = 2_000;
const CHANGES = 12;
const KEPT_MS = 15_000;

/** Reads the newest changes of grade among the newest publications, newest first, at most every quarter of a minute. */
export function createGradeChangeReader(
  db: Database,
  { chainId, monotonicMs }: { readonly chainId: number; readonly monotonicMs: () => number },
): () => Promise<readonly GradeChange[]> {
  const read = remembered(() => readGradeChanges(db, chainId), {
    keyOf: () => "all",
    milliseconds: KEPT_MS,
    entries: 1,
    monotonicMs,
  });
  return () => read(undefined);
}

async function readGradeChanges(db: Database, chainId: number): Promise<readonly GradeChange[]> {
  const { rows } = await db.$client.query<{
    wallet: Address;
    from_grade: Grade | null;
    to_grade: Grade | null;
    mined_at: Date;
    mined_hash: Hex;
  }>({
    ...QUERY_DEADLINE,
    name: "grade_changes",
    text: GRADE_CHANGES,
    values: [chainId, PUBLICATIONS_READ, CHANGES],
  });
  return rows.map((row) => ({
    wallet: row.wallet,
    from: row.from_grade,
    to: row.to_grade,
    at: row.mined_at,
    transactionHash: row.mined_hash,
  }));
}

/** What was published before is the wallet's confirmed intent before; by the index of a wallet's intents. */
const GRADE_CHANGES = `
  select newest.wallet, was.grade as from_grade, became.grade as to_grade, sent.mined_at, sent.mined_hash
  from (
    select id, wallet, score_id, reason, sender_transaction_id from ahs.publish_intent
    where chain_id = $1 and state = 'confirmed' order by id desc limit $2
  ) as newest
  join ahs.score as became on became.id = newest.score_id
  join ahs.sender_transaction as sent
    on sent.id = newest.sender_transaction_id and sent.mined_hash is not null and sent.mined_at is not null
  cross join lateral (
    select score_id from ahs.publish_intent
    where chain_id = $1 and wallet = newest.wallet and id < newest.id and state = 'confirmed'
    order by id desc limit 1
  ) as earlier
  join ahs.score as was on was.id = earlier.score_id
  where newest.reason in ('grade', 'flag') and was.grade is distinct from became.grade
  order by newest.id desc limit $3`;
