import { expect, it } from "vitest";
import { sweepRequests } from "../../../bin/work/upkeep.ts";
import { useDatabase } from "../../support/test-database.ts";

const NOW = new Date("2026-11-20T10:00:00Z");

const db = useDatabase();

it("deletes what no request looks at any more, and nothing else", async () => {
  const query = (text: string, values: unknown[]) => db.$client.query(text, values);
  const past = new Date(NOW.getTime() - 1_000);
  const later = new Date(NOW.getTime() + 1_000);
  for (const [name, at] of [
    ["old", past],
    ["new", later],
  ] as const) {
    await query(
      `insert into ahs.idempotent_answer (scope, key_hash, fingerprint, state, created_at, expires_at)
       values ('key:1', $1, 'f', 'running', $2, $2)`,
      [name, at],
    );
    await query("insert into ahs.sign_in_nonce values ($1, '0x', $2)", [name, at]);
    const usedAt = new Date(at.getTime() - 86_400_000);
    await query("insert into ahs.rate_bucket (identity, tokens, granted, updated_at) values ($1, 1, 0, $2)", [
      name,
      new Date(at.getTime() - 120_000),
    ]);
    await query(
      "insert into ahs.routing_promise (chain_id, wallet, caller, amount_micro_usd, created_at) values (1, '0x', $1, 1, $2)",
      [name, usedAt],
    );
    await query("insert into ahs.wallet_label values ('nansen', $1, '[]', $2)", [name, usedAt]);
  }
  await sweepRequests(db, NOW);
  const { rows } = await query(
    `select key_hash as name from ahs.idempotent_answer union all select nonce from ahs.sign_in_nonce
     union all select identity from ahs.rate_bucket union all select address from ahs.wallet_label
     union all select caller from ahs.routing_promise`,
    [],
  );
  expect(rows).toEqual(Array.from({ length: 5 }, () => ({ name: "new" })));
});
