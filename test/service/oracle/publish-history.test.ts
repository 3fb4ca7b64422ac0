import { drizzle, type NodePgDatabase } from "drizzle-orm/node-postgres";
import { beforeAll, expect, test } from "vitest";
import { readGasToday, readUnsettledIntents } from "../../../service/oracle/publish-intents.ts";
import { rowsRead } from "../../support/rows-read.ts";
import { useDatabase } from "../../support/test-database.ts";
import { createIndexTables } from "../db/index-tables.ts";

const CHAIN_ID = 31_337;
const SETTLED = 20_000;
const PER_TRANSACTION = 20;
/** Rows that planning a statement looks at, and more. */
const PLANNING = 100;

const db = useDatabase();

beforeAll(async () => {
  await createIndexTables(db, CHAIN_ID);
  await db.$client.query(`
    insert into ahs.score (chain_id, wallet, as_of_block, as_of_hash, as_of_time, model_version, confidence_micros,
      confidence_level, sanctioned, sanctions_flags, patterns, features, coverage, inputs_hash)
    select ${CHAIN_ID}, 'w' || n, n, 'h', now(), 'AHS-2026.0', 1, 'LOW', false, '[]', '[]', '[]', '{}', 'i' || n
    from generate_series(1, ${SETTLED}) n;
    insert into ahs.sender_transaction
      (chain_id, sender, reference, purpose, "to", data, value, state, final, nonce, hashes, created_at)
    select ${CHAIN_ID}, 's', 'r' || n, 'publish', 't', 'd', 0, 'mined', true, n, '{}', now() - interval '30 days'
    from generate_series(1, ${SETTLED / PER_TRANSACTION}) n;
    insert into ahs.publish_intent (chain_id, wallet, score_id, reason, state, sender_transaction_id)
    select ${CHAIN_ID}, wallet, id, 'first', 'confirmed', 1 + (row_number() over (order by id) - 1) / ${PER_TRANSACTION}
    from ahs.score;
    analyze ahs.score, ahs.sender_transaction, ahs.publish_intent;`);
});

test("a round looks at none of what was published and final long ago", async () => {
  expect(await rowsOf((session) => readUnsettledIntents(session, CHAIN_ID))).toBeLessThan(PLANNING);
  expect(await rowsOf((session) => readGasToday(session, CHAIN_ID, new Date()))).toBeLessThan(PLANNING);
});

function rowsOf(act: (session: NodePgDatabase) => Promise<unknown>): Promise<number> {
  return rowsRead(db.$client, ["score", "sender_transaction", "publish_intent"], (session) =>
    act(drizzle(session, { casing: "snake_case" })),
  );
}
