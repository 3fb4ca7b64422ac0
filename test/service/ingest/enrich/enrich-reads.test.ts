import { beforeAll, expect, test } from "vitest";
import { readEnrichState } from "../../../../service/ingest/enrich/enrich-reads.ts";
import { useDatabase } from "../../../support/test-database.ts";
import { createIndexTables } from "../../db/index-tables.ts";

const CHAIN_ID = 31_337;
const [QUIET, HUB, CALMED, CALLER, ACCOUNT] = ["a1", "a2", "a3", "a4", "a5"].map(
  (byte) => `0x${byte.repeat(20)}`,
);

const db = useDatabase();
beforeAll(async () => {
  await createIndexTables(db, CHAIN_ID);
});

test("enriches no busy hub, and every account that makes calls of its own", async () => {
  const follow = (address: string | undefined, ownCalls: number, busyUntil: number | null) =>
    db.$client.query(
      `insert into "chain_31337".wallet
         (address, source, followed_block, own_calls, own_failures, touched_block, received, busy_until)
       values ($1, 'registered', 5, $2, 0, 5, 1, $3)`,
      [address, ownCalls, busyUntil],
    );
  await follow(QUIET, 0, null);
  await follow(HUB, 0, 100);
  await follow(CALMED, 0, 99);
  await follow(CALLER, 1, 100);
  await follow(ACCOUNT, 0, 100);
  await db.$client.query(
    `insert into ahs.own_call (chain_id, wallet, block, transaction_index, position, hash, origin, source, timestamp,
       value, ok, gas_limit, gas_used, gas_price_wei, fee_wei)
     values ($1, $2, 6, 0, 1, '0x01', 'safe', 'enrich', 60, 0, true, 0, 0, 0, 0)`,
    [CHAIN_ID, ACCOUNT],
  );
  const client = await db.$client.connect();
  const query = { chainId: CHAIN_ID, asOfBlock: 100 };
  const { wallets } = await readEnrichState(client, query).finally(() => client.release());
  expect([...wallets.keys()].toSorted()).toEqual([QUIET, CALMED, CALLER, ACCOUNT]);
});
