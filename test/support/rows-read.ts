import type { Pool, PoolClient } from "pg";

/** Rows of tables of the schema `ahs` that the statements of one session fetch, by index or by scan; their changes are undone. */
export async function rowsRead(
  pool: Pool,
  tables: readonly string[],
  act: (session: PoolClient) => Promise<unknown>,
): Promise<number> {
  const session = await pool.connect();
  // Counts of the transaction are of this session alone. Those of the server come late, and from every session.
  const count = async () => {
    const { rows } = await session.query<{ read: number }>(
      `select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int as read from pg_stat_xact_user_tables
       where schemaname = 'ahs' and relname = any($1)`,
      [tables],
    );
    return rows[0]?.read ?? Number.NaN;
  };
  try {
    await session.query("begin");
    const before = await count();
    await act(session);
    return (await count()) - before;
  } finally {
    await session.query("rollback");
    session.release();
  }
}
