import { setTimeout as sleep } from "node:timers/promises";
import { createPublicClient, http } from "viem";
import { returnExpiredHolds } from "../../service/access/key-debits.ts";
import type { Load } from "../load/load.ts";
import type { Stand } from "../stand/stand.ts";
import { accountAlerts } from "./alert-account.ts";
import { accountChain, compareRecords, schemaOf } from "./chain-account.ts";
import { type Finding, lost } from "./finding.ts";
import { accountKeys } from "./key-account.ts";
import { accountPayments } from "./payment-account.ts";
import { accountVerdicts } from "./verdict-account.ts";

export type SettleOptions = {
  /** How long clients may take until all that they began is done. */
  readonly drainMs: number;
  /** Ends the time of requests that died, rather than waiting for it: up to two minutes. */
  readonly endDeadRequests: boolean;
};

const AGREE_TIMEOUT_MS = 150_000;
/** Two minutes, half a minute until a worker looks, and some. */
const RETURN_TIMEOUT_MS = 165_000;
const DELIVERY_TIMEOUT_MS = 60_000;
const SETTLING_BLOCK_MS = 100;
const POLL_MS = 200;
const LIVE_BLOCK_MS = 350;

/**
 * Has agents rest and clients finish, waits until chain and database agree, and accounts for everything since the run began:
 * what was sent, asked and paid by the clients' own ledgers against rows, chain and deliveries. Then all go on.
 */
export async function settle(
  stand: Stand,
  load: Load,
  options: SettleOptions,
): Promise<{
  findings: readonly Finding[];
  /** From the call until chain and database agreed; null where they did not in time. */
  agreedAfterMs: number | null;
}> {
  const started = performance.now();
  load.setActing(false);
  load.setBlockMs(SETTLING_BLOCK_MS);
  const [agreedAfterMs, open] = await Promise.all([
    untilAgreed(stand).then((isAgreed) => (isAgreed ? performance.now() - started : null)),
    drain(stand, load, options),
  ]);
  // Our senders also send transactions for the last requests of the clients.
  await untilAgreed(stand);
  await untilDeliveredAndReturned(stand, load);
  const findings = [
    ...open.map(({ name, count }) => lost(`${count} ${name} are not done after ${options.drainMs} ms`)),
    ...(agreedAfterMs === null ? [lost("chain and database do not agree")] : []),
    ...(await accountAll(stand, load)),
  ];
  goOn(load);
  return { findings, agreedAfterMs };
}

/** Has agents and clients go on as they do while nothing is settled. */
function goOn(load: Load): void {
  load.setBlockMs(LIVE_BLOCK_MS);
  load.setActing(true);
  for (const lane of load.lanes) lane.resume();
}

async function accountAll(stand: Stand, load: Load): Promise<readonly Finding[]> {
  const accounts = await Promise.all([
    accountKeys(stand, load),
    accountPayments(stand, load),
    accountVerdicts(stand, load),
    accountAlerts(stand, load),
    accountChain(stand),
  ]);
  return accounts.flat();
}

async function drain(stand: Stand, load: Load, { drainMs, endDeadRequests }: SettleOptions) {
  const draining = Promise.all(
    load.lanes.map(async (lane) => ({ name: lane.name, count: await lane.drain(drainMs) })),
  );
  if (endDeadRequests) {
    await Promise.all(load.lanes.map((lane) => lane.hold()));
    await endRequestsThatDied(stand);
    for (const lane of load.lanes) lane.release();
  }
  return (await draining).filter(({ count }) => count > 0);
}

/** As if the time were over that a request is given: no client of ours has one under way. */
async function endRequestsThatDied({ db }: Stand): Promise<void> {
  for (const statement of [
    "update ahs.idempotent_answer set expires_at = now() where state = 'running'",
    "update ahs.key_debit set deadline = now() where state = 'held'",
    "update ahs.payment set deadline = now() where state in ('reserved', 'settled') and deadline > now()",
    "update ahs.verdict set lease_until = now() where status = 'unsettled'",
  ])
    await db.$client.query(statement);
  // As every worker does twice a minute.
  await returnExpiredHolds(db, new Date());
}

/** Prices that requests held which died go back at their deadlines. */
async function untilReturned({ db }: Stand, load: Load): Promise<void> {
  const keys = [load.callKey.id, load.outputKey.id];
  const deadline = performance.now() + RETURN_TIMEOUT_MS;
  while (performance.now() < deadline) {
    const { rowCount } = await db.$client.query(
      "select 1 from ahs.key_debit where state = 'held' and key_id = any($1)",
      [keys],
    );
    if (rowCount === 0) return;
    await sleep(POLL_MS);
  }
}

/** The index at the head, no transaction open, no intent waiting, every wallet scored at its last call, the oracle's records as ours. */
export async function untilAgreed(stand: Stand): Promise<boolean> {
  const head = await stand.chain().alone(stand.chain().head);
  const client = createPublicClient({ transport: http(stand.chain().test.rpcUrl) });
  const deadline = performance.now() + AGREE_TIMEOUT_MS;
  while (performance.now() < deadline) {
    const isQuiet = (await openWork(stand)) === 0 && (await holdsBlock(stand, head));
    if (isQuiet && (await compareRecords(stand, client)).length === 0) return true;
    await sleep(POLL_MS);
  }
  return false;
}

/** Null while the index is being built. */
async function openWork(stand: Stand): Promise<number | null> {
  const schema = schemaOf(stand);
  const there = await stand.db.$client.query(
    "select to_regclass($1) is not null and to_regclass($2) is not null as there",
    [`${schema}.oracle_score`, `${schema}.wallet`],
  );
  if (there.rows[0]?.there !== true) return null;
  const { rows } = await stand.db.$client.query<{ open: string }>(`
    select (select count(*) from ahs.publish_intent where state in ('pending', 'sent'))
         + (select count(*) from ahs.sender_transaction where not final and state <> 'failed')
         + (select count(*) from ${schema}.wallet w join ahs.current_score c on c.wallet = w.address
            where w.touched_block > c.as_of_block) as open`);
  return Number(rows[0]?.open);
}

/** Every event delivered, and every price back that a request held which died. */
export async function untilDeliveredAndReturned(stand: Stand, load: Load): Promise<void> {
  await untilDelivered(stand);
  await untilReturned(stand, load);
}

async function holdsBlock(
  stand: Stand,
  { number, hash }: { number: number; hash: string },
): Promise<boolean> {
  const { rowCount } = await stand.db.$client.query(
    `select 1 from ${schemaOf(stand)}.block where number = $1 and hash = $2`,
    [number, hash],
  );
  return rowCount === 1;
}

async function untilDelivered({ db }: Stand): Promise<void> {
  const deadline = performance.now() + DELIVERY_TIMEOUT_MS;
  while (performance.now() < deadline) {
    const { rows } = await db.$client.query<{ waiting: number }>(
      "select count(*)::int as waiting from ahs.webhook_event where state = 'pending'",
    );
    if (rows[0]?.waiting === 0) return;
    await sleep(POLL_MS);
  }
}
