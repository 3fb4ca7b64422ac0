import { keccak256, stringToBytes } from "viem";
import { describe, expect, test } from "vitest";
import type { PanelCase } from "../../../../service/verification/panel/types.ts";
import { readRoleCalls } from "../../../../service/verification/verdicts/role-calls.ts";
import { type RunPanel, runOne } from "../../../../service/verification/verdicts/run-one.ts";
import { giveBackLease, renewLease } from "../../../../service/verification/verdicts/verdict-queue.ts";
import { startCuttableProxy } from "../../../support/anvil-testkit/cuttable-proxy.ts";
import { openMigrated } from "../../../support/test-database.ts";
import { abstained, answered, decided } from "./a-decision.ts";
import {
  BALANCE,
  CLIENT,
  fails,
  hangs,
  hold,
  LEASE_MS,
  NEVER,
  UNITS,
  useVerdictWorld,
} from "./verdict-world.ts";

const world = useVerdictWorld();

describe("a run that decides", () => {
  test("stores decision, evidence and one event, and keeps the debit", async () => {
    const id = await world.add();
    await world.run(async () => {
      world.pass(1_234);
      return decided("ALLOW");
    });
    expect(await world.row(id)).toMatchObject({
      status: "completed",
      runs: 1,
      final_verdict: "ALLOW",
      error_message: null,
      lease_until: null,
      evaluated_at: world.now(),
    });
    const [stored] = await world.runs(id);
    expect(stored).toMatchObject({ run: 1, cause: "submitted", final_verdict: "ALLOW" });
    expect(stored?.result).toMatchObject({ final_verdict: "ALLOW", latency_ms: 1_234, review: null });
    expect(stored?.evidence_hash).toBe(keccak256(stringToBytes(stored?.evidence ?? "")));
    expect(await world.events()).toEqual([
      {
        type: "verdict.completed",
        data: {
          verdict_id: id,
          status: "completed",
          final_verdict: "ALLOW",
          run: 1,
          cause: "submitted",
          evidence_hash: stored?.evidence_hash,
          evaluated_at: world.now().toISOString(),
        },
      },
    ]);
    expect(await world.balance()).toBe(BALANCE - UNITS);
  });

  test("HOLD is sent as verdict.held, and a verdict without an endpoint is not sent", async () => {
    await world.add();
    await world.run(hold);
    await world.add({ endpointId: null });
    await world.run();
    expect((await world.events()).map(({ type }) => type)).toEqual(["verdict.held"]);
  });

  test("gives the panel texts, domain, evidence, the money that an ALLOW pays, and whether the provider has a score", async () => {
    const seen: PanelCase[] = [];
    const panel: RunPanel = async (panelCase) => {
      seen.push(panelCase);
      return decided("ALLOW");
    };
    const id = await world.add({ jobChainId: 31_337, jobEscrow: CLIENT, jobId: 7n });
    await world.addEvidence(id, "See page 3.", { hash: `0x${"e1".repeat(32)}` });
    const asked: unknown[] = [];
    const readReleased = async (job: unknown) => {
      asked.push(job);
      return 5_000_000n;
    };
    await world.run(panel, { readReleased });
    expect(asked).toEqual([{ chainId: 31_337, escrow: CLIENT, jobId: 7n }]);
    expect(seen).toEqual([
      {
        specText: "Name three rivers.",
        acceptanceCriteria: "Names three rivers",
        outputText: "Rhine, Elbe, Oder",
        evidenceTexts: ["See page 3."],
        domain: "content",
        providerHasScore: false,
        released: 5_000_000n,
      },
    ]);
    expect(JSON.parse((await world.runs(id))[0]?.evidence ?? "").evidence_hashes).toEqual([
      `0x${"e1".repeat(32)}`,
    ]);
  });

  test("stores words that PostgreSQL would refuse", async () => {
    const id = await world.add();
    await world.run(async (_, { keep }) => {
      await keep(answered("critic", { reason: "a\u0000b" }));
      return { ...decided("ALLOW"), reasoning: "half \ud800, none \u0000" };
    });
    expect((await world.runs(id))[0]?.result).toMatchObject({ reasoning: "half \uFFFD, none \uFFFD" });
  });
});

describe("a worker that dies", () => {
  test("leaves the run to others once its lease is over, and what was answered is not asked again", async () => {
    const id = await world.add();
    const first = await world.lease();
    const dying = new AbortController();
    const given = [answered("criteria_auditor", { score: 80 }), abstained("domain_expert")];
    const died = runOne(
      world.deps(async (_, { keep }) => {
        for (const record of given) await keep(record);
        return new Promise(() => undefined);
      }),
      first,
      dying.signal,
    );
    await expect.poll(() => readRoleCalls(world.db, first)).toHaveLength(2);
    await expect(world.lease()).rejects.toThrow("nothing is due");
    world.pass(LEASE_MS + 1);
    let known: unknown = null;
    await world.run(async (_, given) => {
      known = given.known;
      await given.keep(answered("domain_expert", { score: 70 }));
      return decided("ALLOW");
    });
    expect(known).toEqual([given[0]]);
    expect(await readRoleCalls(world.db, first)).toMatchObject([
      { role: "criteria_auditor", requests: 1 },
      { role: "domain_expert", requests: 2, promptTokens: 200, answer: { answer: { score: 70 } } },
    ]);
    dying.abort();
    await died;
    expect(await world.row(id)).toMatchObject({ status: "completed", runs: 1 });
  });

  test("in the middle of storing leaves nothing stored, and the next one stores it once", async () => {
    const id = await world.add();
    await world.query(`
      create function ahs.refuse() returns trigger language plpgsql as $$ begin raise 'gone'; end $$`);
    await world.query(
      "create trigger refuse before insert on ahs.webhook_event for each row execute function ahs.refuse()",
    );
    await world.run();
    expect(await world.row(id)).toMatchObject({ status: "pending", runs: 0, final_verdict: null });
    expect(await world.runs(id)).toEqual([]);
    await world.query("drop trigger refuse on ahs.webhook_event");
    world.pass(10_000);
    await world.run();
    expect(await world.row(id)).toMatchObject({ status: "completed", runs: 1, error_message: null });
    expect(await world.events()).toHaveLength(1);
    expect(await world.balance()).toBe(BALANCE - UNITS);
  });

  test("is not tried for ever: a verdict that brings down every worker fails and costs nothing", async () => {
    const id = await world.add({ attempts: 100 });
    await world.run();
    expect(await world.row(id)).toMatchObject({
      status: "failed",
      error_message: "The run was broken off 100 times without an outcome.",
    });
    expect(await world.balance()).toBe(BALANCE);
  });
});

test("answers that know nothing of a text handed in since are asked for again", async () => {
  const id = await world.add();
  await world.run(async (_, given) => {
    await given.keep(answered("critic", {}));
    return fails(true)(_, given);
  });
  world.pass(5_000);
  await world.addEvidence(id, "See page 3.");
  expect(await readRoleCalls(world.db, await world.lease())).toEqual([]);
});

describe("a worker that lost its lease", () => {
  test("stores neither answers nor a decision", async () => {
    const id = await world.add();
    const slow = await world.lease();
    world.pass(LEASE_MS + 1);
    const taker = await world.lease();
    await runOne(
      world.deps(async () => decided("REJECT")),
      slow,
      NEVER,
    );
    await runOne(
      world.deps(async (_, { keep }) => {
        await keep(answered("critic", {}));
        return decided("REJECT");
      }),
      slow,
      NEVER,
    );
    expect(await readRoleCalls(world.db, taker)).toEqual([]);
    expect(await world.row(id)).toMatchObject({ status: "processing", attempts: 2 });
    await runOne(world.deps(), taker, NEVER);
    expect(await world.runs(id)).toMatchObject([{ final_verdict: "ALLOW" }]);
    expect(await world.outcomes()).toEqual({ lost: 2, allow: 1 });
  });

  test("neither fails, renews nor gives back what is another's", async () => {
    const id = await world.add();
    const slow = await world.lease();
    world.pass(LEASE_MS + 1);
    await world.lease();
    const before = await world.row(id);
    await runOne(world.deps(fails(false)), slow, NEVER);
    expect(await renewLease(world.db, slow, new Date())).toBe(false);
    await giveBackLease(world.db, slow, world.now());
    expect(await world.row(id)).toEqual(before);
    expect(await world.balance()).toBe(BALANCE - UNITS);
    expect(await world.events()).toEqual([]);
  });

  test("stops asking as soon as it hears of it", async () => {
    await world.add();
    const slow = await world.lease();
    world.pass(LEASE_MS + 1);
    await world.lease();
    const deps = { ...world.deps(hangs), lease: { leaseMs: LEASE_MS, renewMs: 10 } };
    await runOne(deps, slow, NEVER);
    expect(await world.outcomes()).toEqual({ lost: 1 });
  });
});

test("a run keeps its lease for as long as it goes on", async () => {
  const id = await world.add();
  const claimed = await world.lease();
  const stopping = new AbortController();
  const deps = { ...world.deps(hangs), lease: { leaseMs: LEASE_MS, renewMs: 10 } };
  const running = runOne(deps, claimed, stopping.signal);
  for (let step = 0; step < 3; step += 1) {
    world.pass(LEASE_MS - 1);
    const leaseUntil = new Date(world.now().getTime() + LEASE_MS);
    await expect.poll(async () => (await world.row(id)).lease_until).toEqual(leaseUntil);
  }
  await expect(world.lease()).rejects.toThrow("nothing is due");
  stopping.abort();
  await running;
  expect(await world.row(id)).toMatchObject({ status: "pending", not_before: world.now() });
  expect(await world.lease()).toMatchObject({ verdictId: id, attempts: 2 });
});

test("a run ends with its lease while the database answers nothing, and lets a worker stop", async () => {
  const proxy = await startCuttableProxy(world.db.$client.options.connectionString ?? "");
  const db = openMigrated(proxy.url);
  try {
    await world.add();
    const claimed = await world.lease();
    const leaseMs = 600;
    const stopping = new AbortController();
    const asked = Promise.withResolvers<void>();
    const panel: RunPanel = async () => {
      asked.resolve();
      return new Promise(() => undefined);
    };
    const deps = { ...world.deps(panel), db, lease: { leaseMs, renewMs: 50 } };
    const running = runOne(deps, claimed, stopping.signal);
    await asked.promise;
    proxy.freeze();
    stopping.abort();
    await running;
    expect(await world.outcomes()).toEqual({ lost: 1 });
  } finally {
    await proxy.close();
    await db.$client.end();
  }
});
