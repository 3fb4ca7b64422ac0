import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { storeRoleCall } from "../../../../service/verification/verdicts/role-calls.ts";
import {
  readDayTokens,
  readOwnerTokens,
} from "../../../../service/verification/verdicts/token-budget.sql.ts";
import { abstained, answered } from "./a-decision.ts";
import { useVerdictWorld } from "./verdict-world.ts";

const world = useVerdictWorld(new Date("2026-11-20T23:59:59.000Z"));
const LARGEST = 1_000;

const day = () => readDayTokens(world.db, { now: world.now(), largestRun: LARGEST });
const ownerOf = (owner: string) =>
  readOwnerTokens(world.db, { owner, now: world.now(), largestRun: LARGEST });

test("tokens of answers and abstentions count until the UTC day is over, and those of a waiting verdict after it", async () => {
  await world.add({ runTokens: 70 });
  await world.add();
  expect(await day()).toEqual({ used: 0, granted: 1_070, free: 0, returned: 1_070 });
  const lease = await world.lease();
  await storeRoleCall(world.db, lease, { record: answered("critic", {}), at: world.now() });
  await storeRoleCall(world.db, lease, { record: abstained("synthesiser"), at: world.now() });
  expect(await day()).toMatchObject({ used: 240, granted: 1_070 });
  world.pass(1_000);
  expect(await day()).toMatchObject({ used: 0, granted: 1_070 });
});

test("unpaid outputs and free repeated runs hold no tokens", async () => {
  await world.add({ status: "unsettled", runTokens: 70 });
  await world.add({ cause: "evidence", finalVerdict: "HOLD", runTokens: 70 });
  expect(await day()).toMatchObject({ granted: 0 });
});

test("the tokens of runs without a verdict, whose price goes back, are no tokens of paid runs", async () => {
  await world.add({ runTokens: 70 });
  const lease = await world.lease();
  await storeRoleCall(world.db, lease, { record: abstained("critic", "refused: no"), at: world.now() });
  expect(await day()).toMatchObject({ used: 120, granted: 70 });
  await world.query("update ahs.verdict set status = 'failed'");
  expect(await day()).toEqual({ used: 0, granted: 0, free: 0, returned: 120 });
  world.pass(1_000);
  expect(await day()).toMatchObject({ returned: 0 });
});

test("tokens without an answer of a model server are neither paid nor counted as returned", async () => {
  await world.add({ runTokens: 70 });
  const lease = await world.lease();
  const down = abstained("critic", "the model server is not available: HTTP status 503");
  await storeRoleCall(world.db, lease, { record: down, at: world.now() });
  await world.query("update ahs.verdict set status = 'failed'");
  expect(await day()).toEqual({ used: 0, granted: 0, free: 0, returned: 0 });
});

test("the tokens of an appeal that was won are no tokens of paid runs, since its price went back", async () => {
  const id = await world.add({ status: "processing", cause: "appeal", runs: 1, finalVerdict: "ALLOW" });
  await world.query(
    `insert into ahs.role_call (verdict_id, run, role, model, mode, requests, prompt_tokens, completion_tokens, latency_ms, created_at)
     values ($1, 2, 'critic', '', '', 1, 100, 20, 1, $2)`,
    [id, world.now()],
  );
  await world.query("update ahs.verdict set status = 'completed', runs = 2");
  expect(await day()).toMatchObject({ used: 120, returned: 0 });
  await world.query(
    `insert into ahs.appeal (verdict_id, chain_id, run, state, units, appeal_by, decide_by, created_at, updated_at)
     values ($1, 31337, 1, 'overturned', 500, $2, $2, $2, $2)`,
    [id, world.now()],
  );
  expect(await day()).toMatchObject({ used: 0, returned: 120 });
});

test("waiting outputs of a key without a verdict can go back, those of one with a verdict count as paid", async () => {
  await world.add({ owner: "key:new", runTokens: 70 });
  expect(await day()).toMatchObject({ granted: 70, returned: 70 });
  await world.add({ owner: "key:new", status: "completed", finalVerdict: "ALLOW", runs: 1 });
  expect(await day()).toMatchObject({ granted: 70, returned: 0 });
});

test("tokens of unpaid runs count apart, before and after their decision", async () => {
  const held = { finalVerdict: "HOLD", runs: 1 } as const;
  await world.add({ ...held, cause: "evidence" });
  const lease = await world.lease();
  await storeRoleCall(world.db, lease, { record: answered("critic", {}), at: world.now() });
  expect(await day()).toEqual({ used: 0, granted: 0, free: 120, returned: 0 });
});

test("an owner has its verdicts, those that wait, and the tokens of those that failed by their texts", async () => {
  const owner = `key:${randomUUID()}`;
  const failure = async (reason: string) => {
    await world.add({ owner, runTokens: 70 });
    const lease = await world.lease();
    await storeRoleCall(world.db, lease, { record: abstained("critic", reason), at: world.now() });
    await world.query("update ahs.verdict set status = 'failed' where id = $1", [lease.verdictId]);
  };
  await failure("refused: the model declined");
  await failure("off the schema twice: no score");
  await failure("the model server is not available: HTTP status 503");
  expect(await ownerOf(owner)).toEqual({ today: 360, paid: 0, unpaid: 240 });
  await world.add({ owner, runTokens: 50 });
  await world.add({ owner, runTokens: 40, status: "completed", finalVerdict: "ALLOW", runs: 1 });
  await world.add({ owner: "key:another", runTokens: 9 });
  expect(await ownerOf(owner)).toEqual({ today: 410, paid: 40, unpaid: 290 });
  world.pass(1_000);
  expect(await ownerOf(owner)).toEqual({ today: 50, paid: 40, unpaid: 290 });
});
