import type { ClientBase } from "pg";
import type { RoleName } from "./role-rights.ts";

/** Which rows of a table a role may write, where its right to the table would be too much. */
type RowPolicy = {
  /** A changed policy needs another name: what has its name is left as it is. */
  readonly name: string;
  readonly role: RoleName;
  /** As CREATE POLICY takes it after the role. */
  readonly rows: string;
  readonly action: "insert" | "update" | "delete";
};

/** Lets whoever has a right to the table use it, as without policies; those above it take away. */
const EVERYONE = "everyone";

/** Policies by table of the schema `ahs`. The owner of the tables is bound by none. */
export const ROW_POLICIES: Readonly<Record<string, readonly RowPolicy[]>> = {
  // A server plans the publication of what it scores, and must keep no wallet from being scored.
  quarantine: [
    {
      name: "server_quarantines_publications",
      role: "ahs_serve",
      action: "insert",
      rows: "with check (kind = 'publish')",
    },
    {
      name: "server_extends_publications",
      role: "ahs_serve",
      action: "update",
      rows: "using (kind = 'publish')",
    },
    {
      name: "server_releases_publications",
      role: "ahs_serve",
      action: "delete",
      rows: "using (kind = 'publish')",
    },
  ],
  sender_transaction: [
    {
      name: "server_asks_for_transfers",
      role: "ahs_serve",
      action: "insert",
      rows: `with check (purpose = 'x402' and value = 0 and state = 'queued' and not final
        and nonce is null and raw is null and cardinality(hashes) = 0 and mined_hash is null)`,
    },
    {
      name: "server_asks_again",
      role: "ahs_serve",
      action: "update",
      rows: `using (purpose = 'x402' and state = 'failed' and nonce is null)
        with check (purpose = 'x402' and state = 'queued')`,
    },
  ],
  verdict: [
    {
      name: "server_takes_outputs",
      role: "ahs_serve",
      action: "insert",
      rows: "with check (status = 'unsettled' and runs = 0 and final_verdict is null)",
    },
    {
      name: "server_decides_reviews",
      role: "ahs_serve",
      action: "update",
      rows: `using (true) with check (status <> 'processing'
        and (final_verdict is null or final_verdict = 'HOLD' or cause = 'review'))`,
    },
    {
      name: "server_drops_unpaid",
      role: "ahs_serve",
      action: "delete",
      rows: "using (status = 'unsettled')",
    },
  ],
  verdict_run: [
    {
      name: "server_stores_reviews",
      role: "ahs_serve",
      action: "insert",
      rows: `with check (cause = 'review' and final_verdict in ('ALLOW', 'REJECT')
        and not exists (select from ahs.verdict_run earlier
          where earlier.verdict_id = verdict_run.verdict_id and earlier.final_verdict <> 'HOLD'))`,
    },
  ],
};

/**
 * Brings the row-level security of our tables in step with ROW_POLICIES, in the transaction that grants the rights. Tables that are in
 * step are not locked; others are, until it ends.
 */
export async function putPolicies(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ table: string; secured: boolean; policies: string[] }>(
    `select c.relname as "table", c.relrowsecurity as secured,
       array(select p.polname::text from pg_policy p where p.polrelid = c.oid) as policies
     from pg_class c where c.oid = any($1::regclass[])`,
    [Object.keys(ROW_POLICIES).map((table) => `ahs.${table}`)],
  );
  for (const { table, secured, policies } of rows) {
    for (const statement of statementsFor(table, policies)) await client.query(statement);
    if (!secured) await client.query(`alter table ahs.${table} enable row level security`);
  }
}

function statementsFor(table: string, present: readonly string[]): readonly string[] {
  const wanted = new Map([
    [EVERYONE, "using (true)"],
    ...(ROW_POLICIES[table] ?? []).map(
      ({ name, role, action, rows }) => [name, `as restrictive for ${action} to ${role} ${rows}`] as const,
    ),
  ]);
  const stale = present.filter((name) => !wanted.has(name));
  const missing = [...wanted].filter(([name]) => !present.includes(name));
  return [
    ...stale.map((name) => `drop policy "${name}" on ahs.${table}`),
    ...missing.map(([name, rest]) => `create policy "${name}" on ahs.${table} ${rest}`),
  ];
}
