import { setTimeout as sleep } from "node:timers/promises";
import { doubled, type Finding, lost } from "../accounts/finding.ts";
import { accountKeys } from "../accounts/key-account.ts";
import { untilAgreed, untilDeliveredAndReturned } from "../accounts/settle.ts";
import { accountVerdicts } from "../accounts/verdict-account.ts";
import type { Stand } from "../stand/stand.ts";
import type { Injection, ScenarioContext } from "./scenario.ts";

const REBUILD_TIMEOUT_MS = 120_000;
const POLL_MS = 100;

/** Rows that only our database has and no chain can restore: the kind of row and its query. */
const OWN_ROWS = [
  ["keys", "select id, key_hash, partner from ahs.api_key"],
  ["kept debits", "select id, key_id, units from ahs.key_debit where state = 'kept'"],
  ["payments", "select id, nonce, amount, state, transaction_hash from ahs.payment where state = 'answered'"],
  ["decisions", "select verdict_id, run, final_verdict, evidence_hash from ahs.verdict_run"],
  ["verdicts", "select id, output_hash, runs, final_verdict from ahs.verdict where status = 'completed'"],
  ["subscriptions", "select id, wallet, owner, expires_at from ahs.alert_subscription"],
  ["events", "select id, body from ahs.webhook_event"],
] as const;

/**
 * Another chain takes the place of the one that is indexed, of the same id and contracts. It is known by its blocks' hashes; what is
 * derived from the lost one is built anew, and what is not, stays as it was.
 */
export async function chainLost(context: ScenarioContext): Promise<Injection> {
  const { stand, load, faults } = context;
  const settled = await context.settle();
  // No client pays on a chain that is about to be replaced: its money would be lost.
  await load.purchases.drain(0);
  const before = await readOwnRows(stand);
  await load.setMining(false);
  const replaced = performance.now();
  await stand.replaceChain();
  await load.setMining(true);
  await untilRebuilt(context);
  await stand.services.ready();
  load.setActing(false);
  const agreed = await untilAgreed(stand);
  const recovery = (performance.now() - replaced) / 1_000;
  if (!agreed) faults.note("no recovery", "chain and database do not agree on the new chain");
  const findings = [
    ...settled.findings,
    ...compareOwnRows(before, await readOwnRows(stand)),
    ...(await settleRest(context)),
  ];
  return {
    injected: 1,
    of: "chain replaced",
    recovery,
    // Processes end with the chain that they were started for, and start over.
    mayRestart: (process) => (process.startsWith("serve") ? 0 : 2),
    findings,
    notes: [[...before].map(([what, rows]) => `${rows.size} ${what}`).join(", ")],
  };
}

/** Until no block of the lost chain is left in the index. */
async function untilRebuilt({ stand, faults }: ScenarioContext): Promise<void> {
  const deadline = performance.now() + REBUILD_TIMEOUT_MS;
  const { hash } = (await stand.chain().test.rpc.request("eth_getBlockByNumber", "0x1", false)) as {
    hash: string;
  };
  const { startBlock } = stand.chain().test.deployment;
  const first = (await stand
    .chain()
    .test.rpc.request("eth_getBlockByNumber", `0x${Math.max(startBlock, 1).toString(16)}`, false)) as {
    hash: string;
    number: string;
  };
  while (performance.now() < deadline) {
    const { rows } = await stand.db.$client
      .query<{ hash: string }>("select hash from chain_31337.block where number = $1", [Number(first.number)])
      // Dropped, and not built again yet.
      .catch(() => ({ rows: [] }));
    if (rows[0]?.hash === first.hash) return;
    await sleep(POLL_MS);
  }
  faults.note("no recovery", `the index does not hold the new chain, whose first block is ${hash}`);
}

type OwnRows = ReadonlyMap<string, ReadonlySet<string>>;

async function readOwnRows({ db }: Stand): Promise<OwnRows> {
  const read = new Map<string, ReadonlySet<string>>();
  for (const [what, query] of OWN_ROWS) {
    const { rows } = await db.$client.query(query);
    read.set(what, new Set(rows.map((row) => JSON.stringify(row))));
  }
  return read;
}

function compareOwnRows(before: OwnRows, after: OwnRows): readonly Finding[] {
  return [...before].flatMap(([what, rows]) =>
    [...rows].filter((row) => after.get(what)?.has(row) !== true).map((row) => lost(`${what}: ${row}`)),
  );
}

/** Accounts for the work by key that continued in the meantime. */
async function settleRest({ stand, load }: ScenarioContext): Promise<readonly Finding[]> {
  const open = await Promise.all([load.calls, load.outputs].map((lane) => lane.drain(REBUILD_TIMEOUT_MS)));
  await untilDeliveredAndReturned(stand, load);
  const findings = [...(await accountKeys(stand, load)), ...(await accountVerdicts(stand, load))];
  const left = open.reduce((sum, count) => sum + count, 0);
  return left === 0 ? findings : [...findings, doubled(`${left} requests are not done`)];
}
