import type { Database } from "../service/db/database.ts";

/** Verdicts that are due: so many, each with an output of so many characters. */
export type DueVerdicts = { readonly count: number; readonly characters: number };

const UNITS = 500;
const KEY = "00000000-0000-4000-8000-00000000000a";

/** Queues verdicts of one metered key, each with a debit of its own that was kept for it; those before are removed. */
export async function queueVerdicts(db: Database, { count, characters }: DueVerdicts): Promise<void> {
  const query = (text: string, values: readonly unknown[] = []) => db.$client.query(text, [...values]);
  await query(
    "truncate ahs.verdict, ahs.job_spec, ahs.key_debit, ahs.webhook_event, ahs.webhook_endpoint cascade",
  );
  await query(
    `insert into ahs.api_key (id, name, partner, key_hash, key_prefix, balance_units, scopes, rate_per_minute)
     values ($1, 'bench', false, 'bench', 'ahs_', 0, '{}', 1) on conflict do nothing`,
    [KEY],
  );
  await query(
    `with made as (select gen_random_uuid() as id, n from generate_series(1, $1::int) n),
     spec as (
       insert into ahs.job_spec (id, client_addr, spec_text, acceptance_criteria, domain, spec_hash, created_at)
       select id, '0x' || repeat('c1', 20), 'Write a report of numbered lines.', 'Every line has a number', 'content',
         '0x' || repeat('5e', 32), now() from made
     ), debit as (
       insert into ahs.key_debit (id, key_id, endpoint, units, state, created_at, deadline)
       select id, $2::uuid, 'POST /v1/outputs', $3::bigint, 'kept', now(), now() from made
     ), endpoint as (
       insert into ahs.webhook_endpoint (id, url, secret, created_at)
       select id, 'https://hooks.example.com/' || n, 'whsec_', now() from made
     ), due as (
       insert into ahs.verdict (id, spec_id, slot, output_hash, submitted_by, submitter_addr, provider_addr, owner, units,
         debit_id, status, not_before, cause, endpoint_id, created_at, accepted_at, updated_at)
       select id, id, 'bench:' || id, '0x' || repeat('0f', 32), 'client', '0x' || repeat('c1', 20), '0x' || repeat('b2', 20),
         'key:' || $2::text, $3::int, id, 'pending', now(), 'submitted', id, now(), now(), now() from made
     )
     insert into ahs.output_text (verdict_id, text, created_at) select id, $4::text, now() from made`,
    [count, KEY, UNITS, reportOf(characters)],
  );
}

/** A text of that many characters, no line of which is another's. */
function reportOf(characters: number): string {
  const lines: string[] = [];
  for (let line = 1, length = 0; length < characters; line += 1) {
    const text = `line ${line}: station ${line * 7} measured ${(line * 7_919) % 10_007} units at hour ${line % 24}`;
    lines.push(text);
    length += text.length + 1;
  }
  return lines.join("\n").slice(0, characters);
}
