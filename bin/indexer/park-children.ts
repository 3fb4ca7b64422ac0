import { Client, type ClientBase } from "pg";

/** A factory of Ponder's, as its cache of the chain names it. */
export type PonderFactory = Readonly<Record<string, unknown>> & { readonly chainId: number };

/** Later than any block: Ponder follows an address from the block at which it was found. */
const NEVER = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * Has Ponder's factories follow none of the unfollowed addresses, and follow again those that are no longer among them. The rows
 * that they found are kept under the negative number of their factory, and one from a block that never comes stands for each:
 * an address that a factory knows is not found again.
 */
export async function parkChildren(
  databaseUrl: string,
  factories: readonly PonderFactory[],
  unfollowed: readonly string[],
): Promise<void> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query("begin");
    for (const factory of factories) await parkIn(client, factory, unfollowed);
    await client.query("commit");
  } finally {
    await client.end();
  }
}

async function parkIn(
  client: ClientBase,
  factory: PonderFactory,
  unfollowed: readonly string[],
): Promise<void> {
  const { rows } = await client.query<{ id: number }>(
    `insert into ponder_sync.factories (factory) values ($1::jsonb)
     on conflict (factory) do update set factory = excluded.factory returning id`,
    [JSON.stringify(factory)],
  );
  const id = rows[0]?.id;
  const table = "ponder_sync.factory_addresses";
  await client.query(`delete from ${table} where factory_id = $1 and block_number = $2`, [id, NEVER]);
  await client.query(
    `update ${table} set factory_id = $1 where factory_id = -($1::integer) and address <> all($2::text[])`,
    [id, unfollowed],
  );
  await client.query(
    `update ${table} set factory_id = -factory_id where factory_id = $1 and address = any($2::text[])`,
    [id, unfollowed],
  );
  await client.query(
    `insert into ${table} (factory_id, chain_id, block_number, address)
     select $1, $2, $3, unfollowed.address from unnest($4::text[]) as unfollowed (address)`,
    [id, factory.chainId, NEVER, unfollowed],
  );
}
