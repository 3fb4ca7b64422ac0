import { pino } from "pino";
import { describe, expect, it } from "vitest";
import { createHealthCheck, type HealthSources } from "../../../../service/api/verification/check-health.ts";
import { bodyOf, WALLET, WITH_KEY } from "../fake-ports.ts";
import { fakeBothApp, fakeVerificationApp, WELL } from "./fake-verification-ports.ts";

describe("GET /health", () => {
  it("is 200 with every check while nothing fails", async () => {
    const response = await fakeVerificationApp().request("/health");
    expect([response.status, await bodyOf<unknown>(response)]).toEqual([
      200,
      { status: "ok", service: "agent-health-verification", version: "0.1.0", checks: WELL },
    ]);
  });

  it.each(["database", "queue", "model", "chain"])(
    "is 503 with the same body when %s fails",
    async (name) => {
      const checks = { ...WELL, [name]: { status: "failing" as const, detail: "does not answer" } };
      const app = fakeVerificationApp({ verificationHealth: async () => checks });
      const response = await app.request("/health");
      expect([response.status, response.headers.get("retry-after")]).toEqual([503, "5"]);
      expect(await bodyOf<unknown>(response)).toMatchObject({ status: "unavailable", checks });
    },
  );

  it("is 200 without a configured model, and says so", async () => {
    const checks = { ...WELL, model: { status: "not_configured" as const, detail: "no model" } };
    const app = fakeVerificationApp({ verificationHealth: async () => checks });
    expect((await app.request("/health")).status).toBe(200);
  });

  it("does not shadow the priced diagnosis of a wallet", async () => {
    const app = fakeBothApp();
    expect((await app.request("/health")).status).toBe(200);
    expect((await app.request(`/health/${WALLET}`)).status).toBe(401);
    expect((await app.request(`/health/${WALLET}`, WITH_KEY)).status).toBe(200);
  });
});

const NOW = new Date("2026-11-20T10:00:00.000Z");

function world(changes: Partial<HealthSources> = {}) {
  let elapsedMs = 0;
  const asked = { queue: 0, head: 0, node: 0, model: 0 };
  const sources: HealthSources = {
    queue: async () => {
      asked.queue += 1;
      return { depth: 2, ageSeconds: 1.5, processing: 1 };
    },
    head: async () => {
      asked.head += 1;
      return { blockNumber: 970, timestamp: NOW.getTime() / 1_000 - 3 };
    },
    node: async () => {
      asked.node += 1;
      return 971n;
    },
    model: async () => {
      asked.model += 1;
      return { isReachable: true, detail: null };
    },
    ...changes,
  };
  const check = createHealthCheck({
    sources,
    maxIndexAgeSeconds: 120,
    clock: { now: () => NOW, monotonicMs: () => elapsedMs },
    logger: pino({ level: "silent" }),
    timeoutMs: 50,
  });
  const pass = (ms: number) => {
    elapsedMs += ms;
  };
  return { check, asked, pass };
}

const silence = () => new Promise<never>(() => undefined);
const unreachable = () =>
  Promise.reject(new Error("connect ECONNREFUSED postgres://user:secret@10.0.0.1:5432/ahs"));

describe("the health of verification", () => {
  it("says how each thing is that it needs", async () => {
    expect(await world().check()).toEqual({
      database: { status: "ok", detail: "answers" },
      queue: {
        status: "ok",
        detail: "2 waiting, 1 under way, the most overdue for 1 s, at most 300 s allowed",
      },
      model: { status: "ok", detail: "answers" },
      chain: { status: "ok", detail: "block 970 is 3 s old, at most 120 s allowed" },
    });
  });

  it("fails a queue that no worker takes from", async () => {
    const { check } = world({ queue: async () => ({ depth: 9, ageSeconds: 301, processing: 0 }) });
    expect((await check()).queue.status).toBe("failing");
  });

  it("fails an index that is behind or empty", async () => {
    const old = { blockNumber: 1, timestamp: NOW.getTime() / 1_000 - 121 };
    expect((await world({ head: async () => old }).check()).chain.status).toBe("failing");
    expect((await world({ head: async () => null }).check()).chain.status).toBe("failing");
  });

  it.each([
    ["refuses", () => Promise.reject(new Error("connect ECONNREFUSED http://10.0.0.1:8545/v2/secret"))],
    ["says nothing", silence],
  ])("fails a chain whose node %s, though the index is fresh still", async (_, node) => {
    expect((await world({ node }).check()).chain).toEqual({
      status: "failing",
      detail: "the node does not answer; block 970 is 3 s old, at most 120 s allowed",
    });
  });

  it("asks no node where none is configured", async () => {
    expect((await world({ node: null }).check()).chain.status).toBe("ok");
  });

  it("distinguishes a model that is not configured from one that does not answer", async () => {
    expect((await world({ model: null }).check()).model.status).toBe("not_configured");
    const down = async () => ({ isReachable: false, detail: "HTTP status 502" });
    expect((await world({ model: down }).check()).model).toEqual({
      status: "failing",
      detail: "HTTP status 502",
    });
  });

  it("waits for nothing longer than its time", async () => {
    const report = await world({ queue: silence, head: silence, model: silence }).check();
    expect(Object.values(report).map(({ status }) => status)).toEqual([
      "failing",
      "failing",
      "failing",
      "failing",
    ]);
  });

  it("repeats nothing of what a failure says: it may hold addresses and passwords", async () => {
    const report = await world({ queue: unreachable, head: unreachable, model: unreachable }).check();
    expect(JSON.stringify(report)).not.toMatch(/secret|10\.0\.0\.1|postgres:/);
    expect(report.database.status).toBe("failing");
  });

  it("looks once for all who ask within a few seconds, and again later", async () => {
    const { check, asked, pass } = world();
    await Promise.all([check(), check(), check()]);
    expect(asked).toEqual({ queue: 1, head: 1, node: 1, model: 1 });
    pass(2_000);
    await check();
    expect(asked).toEqual({ queue: 2, head: 1, node: 1, model: 1 });
    pass(3_000);
    await check();
    expect(asked).toEqual({ queue: 3, head: 2, node: 2, model: 2 });
  });
});
