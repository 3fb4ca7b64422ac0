import type { Address } from "viem";
import { expect, it } from "vitest";
import { createNightReader } from "../../../service/registries/nightly/service-records.ts";
import { createEcosystemReader, createGradeChangeReader } from "../../../service/scores/ecosystem.ts";
import { insertCurrentScore } from "../../support/score-rows.ts";
import { useDatabase } from "../../support/test-database.ts";
import { createIndexTables } from "../db/index-tables.ts";

const CHAIN = 31337;
const [ANN, BEN, CAT] = [`0x${"aa".repeat(20)}`, `0x${"bb".repeat(20)}`, `0x${"cc".repeat(20)}`] as const;
const TX = (number: number) => `0x${String(number).padStart(64, "0")}`;

const FURTHER = {
  ...({
    name: "Agent Bazaar",
    kind: "erc8004",
    address: "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
  } as const),
  startBlock: 1,
};
const at = (chainId: number) => ({ chainId, registries: [FURTHER], monotonicMs: () => 0 });

const db = useDatabase();

it("numbers a chain of which nothing is known yet", async () => {
  expect(await createEcosystemReader(db, at(1))()).toEqual({
    scored: 0,
    insufficient: 0,
    sanctioned: 0,
    agents: null,
    head: null,
    newestScore: null,
    newestRoot: null,
  });
  expect(await createGradeChangeReader(db, at(1))()).toEqual([]);
  expect(await createNightReader(db, at(1))()).toEqual([]);
});

// Scores are numbered from 1 on.
it("numbers a chain by its scores, the agents of all its registries, its newest block and its newest root", async () => {
  await createIndexTables(db, CHAIN);
  await db.$client.query(`
    create table "chain_${CHAIN}".agent (agent_id numeric(78) primary key);
    create table "chain_${CHAIN}".oracle_root (epoch numeric(78) primary key, transaction_hash text, published_at numeric(78));
    insert into "chain_${CHAIN}".agent values (1), (2), (3);
    insert into ahs.registry_agent (chain_id, registry, agent_id, registered_block, updated_block)
    values (${CHAIN}, '${FURTHER.address.toLowerCase()}', 1, 5, 5), (${CHAIN}, '${ANN}', 1, 5, 5);
    insert into "chain_${CHAIN}".oracle_root values (9, '${TX(1)}', 1790000000), (10, '${TX(2)}', 1790086400);
    insert into "chain_${CHAIN}".block values (9, 'h', 1790000000), (10, 'h', 1790000002);`);
  await insertCurrentScore(db, { wallet: ANN, asOfBlock: 1, ahsScore: 84, grade: "B" });
  await insertCurrentScore(db, { wallet: BEN, asOfBlock: 2, ahsScore: null, grade: null });
  await insertCurrentScore(db, { wallet: CAT, asOfBlock: 3, ahsScore: 0, grade: "F", sanctioned: true });
  expect(await createEcosystemReader(db, at(CHAIN))()).toEqual({
    scored: 2,
    insufficient: 1,
    sanctioned: 1,
    agents: 4,
    head: { blockNumber: 10, timestamp: 1_790_000_002 },
    newestScore: { asOfBlock: 3, asOfTime: new Date("2026-11-20T09:00:00Z") },
    newestRoot: { epoch: 10, transactionHash: TX(2), publishedAt: new Date(1_790_086_400_000) },
  });
});

it("lists changes of grade in the oracle, the newest first, and no move within a grade", async () => {
  await insertCurrentScore(db, { wallet: ANN, asOfBlock: 4, ahsScore: 62, grade: "C" });
  await insertCurrentScore(db, { wallet: ANN, asOfBlock: 5, ahsScore: 65, grade: "C" });
  await insertCurrentScore(db, { wallet: CAT, asOfBlock: 6, ahsScore: 40, grade: "D" });
  await insertCurrentScore(db, { wallet: BEN, asOfBlock: 7, ahsScore: 91, grade: "A" });
  await publish({ id: 1, wallet: ANN, scoreId: 1, reason: "first" });
  await publish({ id: 2, wallet: ANN, scoreId: 4, reason: "grade" });
  await publish({ id: 3, wallet: ANN, scoreId: 5, reason: "move" });
  await publish({ id: 4, wallet: CAT, scoreId: 6, reason: "first" });
  await publish({ id: 5, wallet: CAT, scoreId: 3, reason: "flag" });
  await publish({ id: 6, wallet: BEN, scoreId: 7, reason: "grade" });
  await publish({ id: 7, wallet: ANN, scoreId: 1, reason: "grade", state: "pending" });
  const mined = new Date("2026-11-20T10:00:00Z");
  expect(await createGradeChangeReader(db, at(CHAIN))()).toEqual([
    { wallet: CAT, from: "D", to: "F", at: mined, transactionHash: TX(5) },
    { wallet: ANN, from: "B", to: "C", at: mined, transactionHash: TX(2) },
  ]);
});

it("lists the nights whose scan is done, oldest first, and no scan by hand", async () => {
  await db.$client.query(
    `insert into ahs.scan_run (id, chain_id, night, cause, state, started_at, report)
     select gen_random_uuid(), ${CHAIN}, night, cause, state, '2026-11-20', report::jsonb from (values
       ('2026-11-19', 'nightly', 'done', '{"grades": {"A": 2, "insufficient": 1}, "meanScoreHundredths": 9150}'),
       ('2026-11-18', 'nightly', 'done', '{"grades": {"A": 0, "insufficient": 3}, "meanScoreHundredths": null}'),
       ('2026-11-19', 'hand', 'done', '{"grades": {}, "meanScoreHundredths": 1}'),
       ('2026-11-20', 'nightly', 'running', null)) runs (night, cause, state, report)`,
  );
  expect(await createNightReader(db, at(CHAIN))()).toEqual([
    { night: "2026-11-18", grades: { A: 0, insufficient: 3 }, meanScoreHundredths: null },
    { night: "2026-11-19", grades: { A: 2, insufficient: 1 }, meanScoreHundredths: 9150 },
  ]);
});

type Publication = { id: number; wallet: Address; scoreId: number; reason: string; state?: string };

async function publish({ id, wallet, scoreId, reason, state = "confirmed" }: Publication): Promise<void> {
  await db.$client.query(
    `insert into ahs.sender_transaction
       (id, chain_id, sender, reference, purpose, "to", data, value, state, hashes, mined_hash, mined_at)
     overriding system value
     values ($1::bigint, $2, 's', 'r' || $1::bigint, 'publish', 't', 'd', 0, 'mined', '{}', $3, '2026-11-20T10:00:00Z')`,
    [id, CHAIN, TX(id)],
  );
  await db.$client.query(
    `insert into ahs.publish_intent (id, chain_id, wallet, score_id, reason, state, sender_transaction_id)
     overriding system value values ($1, $2, $3, $4, $5, $6, $1)`,
    [id, CHAIN, wallet, scoreId, reason, state],
  );
}
