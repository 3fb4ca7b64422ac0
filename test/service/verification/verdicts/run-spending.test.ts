import { describe, expect, test } from "vitest";
import { queueRetry } from "../../../../service/verification/verdicts/rerun-verdict.ts";
import { readRoleCalls } from "../../../../service/verification/verdicts/role-calls.ts";
import { type RunPanel, runOne } from "../../../../service/verification/verdicts/run-one.ts";
import { readDayTokens } from "../../../../service/verification/verdicts/token-budget.sql.ts";
import { abstained, answered, decided } from "./a-decision.ts";
import { allow, LEASE_MS, NEVER, useVerdictWorld } from "./verdict-world.ts";

const world = useVerdictWorld();

async function retry(id: string): Promise<void> {
  await world.db.transaction((tx) => queueRetry(tx, id, world.now()));
}

/** Two generators do not answer, for the same reason each time; 240 tokens. */
const abstain =
  (reason: string, retryable: boolean | "once"): RunPanel =>
  async (_, { keep }) => {
    await keep(abstained("domain_expert", reason));
    await keep(abstained("user_advocate", reason));
    return { kind: "failed", message: `No answer: ${reason}`, retryable };
  };
const refused = abstain("refused: the model declined", "once");
const down = abstain("the model server is not available: HTTP status 503", true);

const tokens = async () => {
  const { used, returned } = await readDayTokens(world.db, { now: world.now(), largestRun: 0 });
  return used + returned;
};

describe("a case that the models refuse", () => {
  test("is tried once more, and then fails with their reason", async () => {
    const id = await world.add();
    await world.run(refused);
    expect(await world.row(id)).toMatchObject({ status: "pending", error_message: null });
    world.pass(5_000);
    await world.run(refused);
    expect(await world.row(id)).toMatchObject({
      status: "failed",
      attempts: 2,
      error_message: "No answer: refused: the model declined",
    });
  });

  test("is tried once for each retry that is asked for, so that one output cannot use up a day", async () => {
    const id = await world.add();
    let asked = 0;
    const panel: RunPanel = (panelCase, given) => {
      asked += 1;
      return refused(panelCase, given);
    };
    await world.run(panel);
    world.pass(5_000);
    await world.run(panel);
    for (let retries = 0; retries < 3; retries += 1) {
      await retry(id);
      await world.run(panel);
      expect(await world.row(id)).toMatchObject({ status: "failed" });
    }
    expect([asked, await tokens()]).toEqual([5, 5 * 240]);
  });

  test("after an outage is tried once more as well", async () => {
    const id = await world.add();
    await world.run(down);
    world.pass(5_000);
    await world.run(refused);
    expect(await world.row(id)).toMatchObject({ status: "pending", attempts: 2 });
  });
});

describe("spending on the tries of one decision", () => {
  test("is bounded: beyond it the verdict fails with the reason, without asking the panel", async () => {
    const id = await world.add();
    const bound = { tokensOfCase: () => 80 };
    for (const waitMs of [5_000, 10_000]) {
      await world.run(down, bound);
      expect(await world.row(id)).toMatchObject({ status: "pending" });
      world.pass(waitMs);
    }
    const asksNobody: RunPanel = () => {
      throw new Error("asked");
    };
    const failed = {
      status: "failed",
      error_message:
        "The tries of this verdict took 480 tokens without an outcome, 0 of them for answers. A run takes about 80.",
    };
    await world.run(asksNobody, bound);
    expect(await world.row(id)).toMatchObject(failed);
    await retry(id);
    await world.run(asksNobody, bound);
    expect(await world.row(id)).toMatchObject(failed);
  });

  test("is bounded sooner where the texts are the reason: an output whose answers never fit is not asked about for an hour", async () => {
    const id = await world.add();
    const off = abstain("off the schema twice: no score", true);
    const bound = { tokensOfCase: () => 200 };
    await world.run(off, bound);
    expect(await world.row(id)).toMatchObject({ status: "pending" });
    world.pass(5_000);
    await world.run(off, bound);
    expect(await world.row(id)).toMatchObject({ status: "failed" });
    expect(await tokens()).toBe(240);
  });

  test("lets as many roles repair their answers as the tokens of two runs can pay for", async () => {
    const id = await world.add();
    const repairs: number[] = [];
    const panel: RunPanel = async (panelCase, given) => {
      const asked = Array.from({ length: 7 }, () => given.mayRepair?.());
      repairs.push(asked.filter((may) => may).length);
      return refused(panelCase, given);
    };
    const bound = { tokensOfCase: () => 360 };
    await world.run(panel, bound);
    world.pass(5_000);
    await world.run(panel, bound);
    expect(await world.row(id)).toMatchObject({ status: "failed" });
    expect(repairs).toEqual([6, 2]);
  });

  test("is one sum for all unpaid runs of a verdict, whatever evidence comes between them", async () => {
    const held = { finalVerdict: "HOLD", runs: 1, status: "pending" } as const;
    const id = await world.add({ ...held, cause: "evidence" });
    const bound = { tokensOfCase: () => 200 };
    const off = abstain("off the schema twice: no score", false);
    await world.run(off, bound);
    await world.query(
      "update ahs.verdict set status = 'pending', cause = 'near_expiry', runs = 2, tried_at = null",
    );
    const asksNobody: RunPanel = () => {
      throw new Error("asked");
    };
    await world.run(asksNobody, bound);
    expect(await world.row(id)).toMatchObject({
      status: "completed",
      error_message: expect.stringContaining("took 240 tokens without an outcome"),
    });
  });

  test("does not keep a decision from being stored whose answers are all there", async () => {
    const id = await world.add();
    const roles = ["criteria_auditor", "domain_expert", "evidence_checker", "user_advocate"] as const;
    await world.run(async (_, { keep }) => {
      for (const role of [...roles, "critic", "synthesiser"] as const) await keep(answered(role, {}));
      throw new Error("the decision could not be written");
    });
    world.pass(5_000);
    await world.run(allow, { tokensOfCase: () => 80 });
    expect(await world.row(id)).toMatchObject({ status: "completed" });
  });
});

describe("a call that is broken off", () => {
  const begun = { ...abstained("critic", "broken off before it answered"), completionTokens: 0 };

  test("counts what it was begun with, whichever way its worker ended", async () => {
    await world.add();
    const claimed = await world.lease();
    const stopping = new AbortController();
    const running = runOne(
      world.deps(async (_, { begin }) => {
        await begin({ ...begun, promptTokens: 700 });
        return new Promise(() => undefined);
      }),
      claimed,
      stopping.signal,
    );
    await expect.poll(tokens).toBe(700);
    stopping.abort();
    await running;
    expect(await tokens()).toBe(700);
    expect(await readRoleCalls(world.db, claimed)).toMatchObject([{ role: "critic", requests: 1 }]);
  });

  test("that is answered counts what it took and nothing else", async () => {
    await world.add();
    await world.run(async (_, { begin, keep }) => {
      await begin({ ...begun, promptTokens: 700 });
      await begin({ ...begun, promptTokens: 800 });
      await keep({ ...answered("critic", {}), requests: 2 });
      return decided("ALLOW");
    });
    expect(await world.query("select requests, prompt_tokens, cost_usd, failure from ahs.role_call")).toEqual(
      [{ requests: 2, prompt_tokens: 100, cost_usd: expect.closeTo(0.001, 6), failure: null }],
    );
    expect(await tokens()).toBe(120);
  });

  test("of a run that is another worker's by now is not begun", async () => {
    await world.add();
    const slow = await world.lease();
    world.pass(LEASE_MS + 1);
    await world.lease();
    let asked = false;
    await runOne(
      world.deps(async (_, { begin }) => {
        await begin(begun);
        asked = true;
        return decided("ALLOW");
      }),
      slow,
      NEVER,
    );
    expect([asked, await tokens()]).toEqual([false, 0]);
  });
});

test("a decision is observed with the tokens and the cost of all attempts, unless a price is unknown", async () => {
  const sums = async () => {
    const lines = (await world.registry.metrics()).split("\n");
    return lines.filter((line) => /^ahs_verdict_(tokens|cost_usd)_(sum|count) /.test(line)).sort();
  };
  await world.add();
  await world.run(down);
  world.pass(5_000);
  await world.run(async (_, { keep }) => {
    await keep(answered("domain_expert", {}));
    return decided("HOLD");
  });
  const first = [
    "ahs_verdict_cost_usd_count 1",
    "ahs_verdict_cost_usd_sum 0.003",
    "ahs_verdict_tokens_count 1",
    "ahs_verdict_tokens_sum 360",
  ];
  expect(await sums()).toEqual(first);
  await world.add();
  await world.run(async (_, { keep }) => {
    await keep({ ...answered("domain_expert", {}), costUsd: null });
    return decided("HOLD");
  });
  expect(await sums()).toEqual([
    ...first.slice(0, 2),
    "ahs_verdict_tokens_count 2",
    "ahs_verdict_tokens_sum 480",
  ]);
});
