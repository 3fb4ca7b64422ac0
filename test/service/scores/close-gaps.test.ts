import { afterEach, beforeEach, expect, test } from "vitest";
import { type HistorySource, historyFailure } from "../../../service/ingest/history/history.ts";
import { createHistoryReader, type HistoryReader } from "../../../service/ingest/history/history-reader.ts";
import { closeGaps, readMissingPast } from "../../../service/scores/score-on-demand.ts";
import { chainOf, simulatedSource, WALLET } from "../ingest/history/simulated-chain.ts";
import { blockHash } from "../model/features/index-tables.ts";
import { createOnDemandWorld, type OnDemandWorld } from "./on-demand-world.ts";
import { FINALIZED } from "./record-world.ts";

const chain = chainOf({ steps: Array.from({ length: 25 }, () => ({ blocks: 1, seconds: 1, own: true })) });
const honest = simulatedSource(chain, { by: "block", pageSize: 5 });
const FOLLOWED = 15;

let world: OnDemandWorld;
const readers: HistoryReader[] = [];
beforeEach(async () => {
  world = await createOnDemandWorld();
});
afterEach(async () => {
  await Promise.all(readers.splice(0).map((reader) => reader.close()));
  await world.close();
});

function contextWith(source: HistorySource) {
  const history = createHistoryReader({ source, now: () => performance.now() });
  readers.push(history);
  return { ...world.context, history };
}

/** As enrichment stood at that block. */
const enrichedTo = (block: number) =>
  world.db.$client.query("update ahs.enrich_cursor set block = $1, block_hash = $2", [
    block,
    blockHash(block),
  ]);

const storedTo = async () => {
  const { rows } = await world.db.$client.query("select to_block::int from ahs.stored_history");
  return rows.map((row) => row.to_block);
};

test("blocks between a reported past and the index are read, and the wallet is scored with all of it", async () => {
  const context = contextWith(honest);
  await enrichedTo(10);
  expect(await readMissingPast(context, WALLET)).toEqual({ kind: "ready" });
  expect(await closeGaps(context)).toBe(0);
  await world.follow(WALLET, FOLLOWED);
  expect(await closeGaps(context)).toBe(0);
  await enrichedTo(FINALIZED);
  expect(await closeGaps(context)).toBe(1);
  expect(await storedTo()).toEqual([FOLLOWED]);
  const { rows } = await world.db.$client.query("select as_of_block::int, coverage from ahs.score");
  expect(rows).toEqual([
    {
      as_of_block: FINALIZED,
      coverage: expect.objectContaining({ complete: true, sources: ["index", "simulated"] }),
    },
  ]);
  expect(await closeGaps(context)).toBe(0);
});

test("a source that fails leaves the gap for later, and no score", async () => {
  const context = contextWith(honest);
  await enrichedTo(10);
  await readMissingPast(context, WALLET);
  await world.follow(WALLET, FOLLOWED);
  await enrichedTo(FINALIZED);
  const down = contextWith({ ...honest, checkReach: async () => historyFailure("unavailable", "down") });
  expect(await closeGaps(down)).toBe(0);
  expect(await storedTo()).toEqual([10]);
  expect(await world.traces()).toMatchObject({ scores: 0 });
  expect(await closeGaps(context)).toBe(1);
});

test("a wallet whose history cannot be stored is quarantined, and the gaps of the others are closed", async () => {
  const context = contextWith(honest);
  await enrichedTo(10);
  await readMissingPast(context, WALLET);
  const bad = "0x5555555555555555555555555555555555555555";
  await world.db.$client.query(
    `insert into ahs.stored_history select chain_id, $1, source, from_block, from_timestamp, to_block, to_hash, complete, read_at
     from ahs.stored_history`,
    [bad],
  );
  await world.follow(WALLET, FOLLOWED);
  await world.follow(bad, FOLLOWED);
  await enrichedTo(FINALIZED);
  const asked: string[] = [];
  const history: HistoryReader = {
    ...context.history,
    read: async (request) => {
      asked.push(request.wallet);
      if (request.wallet === bad) throw new Error("a row that nobody expected");
      return context.history.read(request);
    },
  };
  expect(await closeGaps({ ...context, history })).toBe(1);
  const { rows } = await world.db.$client.query("select kind, subject, error from ahs.quarantine");
  expect(rows).toEqual([{ kind: "history", subject: bad, error: "Error: a row that nobody expected" }]);
  expect(await closeGaps({ ...context, history })).toBe(0);
  expect(asked.filter((wallet) => wallet === bad)).toEqual([bad]);
});
