import { describe, expect, it } from "vitest";
import { fakeApp, NOW } from "./fake-ports.ts";

const unreachable = Object.assign(new Error("connect"), { code: "ECONNREFUSED", syscall: "connect" });
const noViews = Object.assign(new Error('relation "chain_31337.block" does not exist'), { code: "42P01" });

async function readyz(head: () => Promise<{ blockNumber: number; timestamp: number } | null>) {
  const response = await fakeApp({ scores: { head } }).app.request("/readyz");
  return {
    status: response.status,
    retryAfter: response.headers.get("retry-after"),
    body: await response.json(),
  };
}

describe("GET /readyz", () => {
  it("is 200 while the database answers and the index is fresh", async () => {
    expect(await readyz(async () => ({ blockNumber: 9, timestamp: NOW.getTime() / 1000 - 120 }))).toEqual({
      status: 200,
      retryAfter: null,
      body: {
        status: "ok",
        checks: {
          database: { ok: true, detail: "answers" },
          index: { ok: true, detail: "block 9 is 120 s old, at most 120 s allowed" },
        },
      },
    });
  });

  it.each([
    ["the index is old", async () => ({ blockNumber: 9, timestamp: NOW.getTime() / 1000 - 121 }), true],
    ["the index holds no block", async () => null, true],
    [
      "the index has no tables yet",
      async () => {
        throw noViews;
      },
      true,
    ],
    [
      "the database is gone",
      async () => {
        throw unreachable;
      },
      false,
    ],
  ])("is 503 and names the check while %s", async (_name, head, database) => {
    expect(await readyz(head)).toMatchObject({
      status: 503,
      retryAfter: "5",
      body: { status: "unavailable", checks: { database: { ok: database }, index: { ok: false } } },
    });
  });

  it("is 500 for a fault of ours, not an unready service", async () => {
    const { status } = await readyz(async () => {
      throw new Error("bug");
    });
    expect(status).toBe(500);
  });
});

describe("GET /livez", () => {
  it("is 200 whatever is down", async () => {
    const { app } = fakeApp({
      scores: {
        head: async () => {
          throw unreachable;
        },
      },
    });
    const response = await app.request("/livez");
    expect([response.status, await response.json()]).toEqual([200, { status: "ok" }]);
  });
});
