import { zeroAddress } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { visitAt } from "../../../devnet/demo/past-scans.ts";
import { pastMoments, simulatePast } from "../../../devnet/demo/simulate-past.ts";
import { createNightReader } from "../../../service/registries/nightly/service-records.ts";
import { createContactCaches } from "../../../service/scores/read/contact-graph.ts";
import { createScoreHistory } from "../../../service/scores/score-history.ts";
import { readWallets, scoreRead } from "../../../service/scores/score-wallets.ts";
import { storeRecords } from "../../../service/scores/store-records.ts";
import { account } from "../../service/model/features/histories.ts";
import { blockHash } from "../../service/model/features/index-tables.ts";
import { CHAIN_ID, createRecordWorld, type RecordWorld } from "../../service/scores/record-world.ts";

const GENESIS = 1_790_000_000;
const DAY = 86_400;
const DAYS = 40;
const NOW = new Date((GENESIS + DAYS * DAY) * 1_000);
/** Of a day of the chain. */
const blockOf = (day: number) => 100 + day;
const [UNLISTED, LISTED] = [account(1), account(2)];
const ENDPOINT = "http://127.0.0.1:4090/keeper/0";

let world: RecordWorld;

beforeAll(async () => {
  world = await createRecordWorld();
  await world.query(`
    insert into chain_31337.block select 100 + day, '0x' || lpad(to_hex(100 + day), 64, '0'), ${GENESIS} + day * ${DAY}, 1
    from generate_series(1, ${DAYS}) day;
    create table chain_31337.agent (agent_id numeric primary key, registered_block numeric not null);
    insert into chain_31337.agent values (1, 1), (2, ${blockOf(35)});
    insert into ahs.agent_document (chain_id, agent_id, uri, state, services, attempts)
    values (${CHAIN_ID}, 1, '', 'current', '[{"name": "web", "endpoint": "${ENDPOINT}"}]', 1);
    insert into ahs.probe_schedule (chain_id, endpoint, kind, account, next_at)
    values (${CHAIN_ID}, '${ENDPOINT}', 'other', '${UNLISTED}', now())`);
  for (const wallet of [UNLISTED, LISTED]) {
    await world.follow(wallet, 1);
    for (let block = 1; block <= 15; block += 1) await world.call(wallet, block, account(0xc0));
  }
  await world.sanction(LISTED, blockOf(33));
  const asOf = {
    blockNumber: blockOf(DAYS),
    blockHash: blockHash(blockOf(DAYS)),
    timestamp: GENESIS + DAYS * DAY,
  };
  const task = { wallets: [UNLISTED, LISTED], at: asOf, contacts: createContactCaches() };
  const read = await readWallets(world.context, task);
  if (read === null) throw new Error("there is a block to score at");
  await storeRecords(world.context, await scoreRead(read, world.context.policy));
});
afterAll(() => world.close());

test("stores scores as of past blocks below all ids, and changes neither current scores nor publications", async () => {
  const [current, intents] = [await world.currentScores(), await world.pendingIntents()];
  const past = () =>
    simulatePast({
      db: world.db,
      deployment: {
        ...world.context.chain,
        chainId: CHAIN_ID,
        identityRegistry: { address: zeroAddress, startBlock: 0 },
      },
      now: () => NOW,
      signal: new AbortController().signal,
    });
  expect(await past()).toBe(true);
  const { rows } = await world.query(
    `select as_of_block::int as block, sanctioned from ahs.score where wallet = '${LISTED}' order by id`,
  );
  const blocks = rows.map(({ block }) => block);
  expect(blocks).toEqual(blocks.toSorted((a, b) => a - b));
  // Two weeks after the chain's first, and fourteen nights, before the first score of the service.
  expect(blocks).toHaveLength(2 + 14 + 1);
  expect(rows.map(({ sanctioned }) => sanctioned)).toEqual(blocks.map((block) => block >= blockOf(33)));
  expect([await world.currentScores(), await world.pendingIntents()]).toEqual([current, intents]);
  const daily = await createScoreHistory(world.db, CHAIN_ID).daily(LISTED, { before: null, limit: 90 });
  expect(daily.points.map(({ asOfTime }) => asOfTime.getTime() / 1_000)).toEqual(
    blocks.map((block) => GENESIS + (block - 100) * DAY).toReversed(),
  );
  const count = await world.countScores();
  expect(await past()).toBe(false);
  expect(await world.countScores()).toBe(count);
});

test("stores fourteen scans with the figures of their nights", async () => {
  const nights = await createNightReader(world.db, { chainId: CHAIN_ID, monotonicMs: () => 0 })();
  expect(nights).toHaveLength(14);
  const { rows } = await world.query("select night, report from ahs.scan_run order by night");
  const reports = rows.map(({ report }) => report);
  expect(reports[0]).toMatchObject({ changedGrades: null, sanctioned: 0, wallets: 2 });
  expect(reports[0].endpoints).toEqual({ alive: 1, failing: 0 });
  expect(reports.at(-1)).toMatchObject({ sanctioned: 1, grades: { F: 1 }, root: null });
  const moves = reports.flatMap(({ gradeMoves }) => gradeMoves).filter(({ wallet }) => wallet === LISTED);
  expect(moves).toEqual([{ wallet: LISTED, from: null, to: "F" }]);
  expect(reports.reduce((sum, { registries }) => sum + registries[0].newAgents, 0)).toBe(2);
});

test("stores a day of hourly probes by the rule of the served endpoints", async () => {
  const { rows } = await world.query("select at, outcome, quarters, latency_ms from ahs.probe order by at");
  expect(rows).toHaveLength(24);
  const [first] = rows;
  const { outcome, quarters, latencyMs } = visitAt(
    { chainId: CHAIN_ID, endpoint: ENDPOINT, kind: "other" },
    first.at,
  );
  expect(first).toEqual({
    at: new Date(NOW.getTime() - DAY * 1_000),
    outcome,
    quarters,
    latency_ms: latencyMs,
  });
  expect(outcome).toBe("ok");
});

test("places nights after weeks, and none before the chain's start", () => {
  const moments = pastMoments(NOW, NOW.getTime() / 1_000 - 10 * DAY);
  expect(moments).toHaveLength(9);
  expect(moments.every(({ night }) => night !== null)).toBe(true);
  const all = pastMoments(NOW, GENESIS).map(({ at }) => at);
  expect(all).toEqual(all.toSorted((a, b) => a - b));
});
