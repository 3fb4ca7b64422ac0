import { describe, expect, it } from "vitest";
import { createVerificationApp } from "../../../../service/api/create-verification-app.ts";
import { createServerLife } from "../../../../service/api/kit/server-life.ts";
import type { SourceStatus, SourceWatch } from "../../../../service/sanctions/sources.ts";
import { fakeApp, NOW } from "../fake-ports.ts";
import { bothPorts } from "../verification/fake-verification-ports.ts";

const unreachable = Object.assign(new Error("connect"), { code: "ECONNREFUSED", syscall: "connect" });
const noViews = Object.assign(new Error('relation "chain_31337.block" does not exist'), { code: "42P01" });

const SOURCES: readonly SourceStatus[] = [
  {
    source: "chainalysis-oracle",
    checkedAt: new Date(NOW.getTime() - 2_000),
    edition: "block 9",
    entries: 1,
    listHash: `0x${"11".repeat(32)}`,
    unchecked: 4,
  },
  { source: "ofac-sdn", checkedAt: null, edition: null, entries: 0, listHash: null, unchecked: null },
];

async function readyz(
  head: () => Promise<{ blockNumber: number; timestamp: number } | null>,
  sanctionsSources: SourceWatch = async () => SOURCES,
) {
  const response = await fakeApp({ scores: { head }, sanctionsSources }).app.request("/readyz");
  return {
    status: response.status,
    retryAfter: response.headers.get("retry-after"),
    body: await response.json(),
  };
}

describe("GET /readyz", () => {
  it("is 200 while the server takes requests and the database answers, and says how fresh the data is", async () => {
    expect(await readyz(async () => ({ blockNumber: 9, timestamp: NOW.getTime() / 1000 - 120 }))).toEqual({
      status: 200,
      retryAfter: null,
      body: {
        status: "ok",
        checks: {
          server: { ok: true, detail: "takes requests" },
          database: { ok: true, detail: "answers" },
        },
        index: { ok: true, detail: "block 9 is 120 s old, at most 120 s allowed" },
        sanctions: [
          {
            source: "chainalysis-oracle",
            checked_at: "2026-11-20T09:59:58.000Z",
            age_seconds: 2,
            edition: "block 9",
            entries: 1,
            list_hash: `0x${"11".repeat(32)}`,
            unchecked_wallets: 4,
          },
          {
            source: "ofac-sdn",
            checked_at: null,
            age_seconds: null,
            edition: null,
            entries: 0,
            list_hash: null,
            unchecked_wallets: null,
          },
        ],
      },
    });
  });

  it("is 200 however old a sanctions list is, and reports its age", async () => {
    const year = 365 * 86_400;
    const old = { ...SOURCES[0], checkedAt: new Date(NOW.getTime() - year * 1000) } as SourceStatus;
    const head = async () => ({ blockNumber: 9, timestamp: NOW.getTime() / 1000 });
    expect(await readyz(head, async () => [old])).toMatchObject({
      status: 200,
      body: { sanctions: [{ age_seconds: year }] },
    });
    const lost = async () => {
      throw unreachable;
    };
    expect(await readyz(head, lost)).toMatchObject({ status: 200, body: { status: "ok", sanctions: null } });
  });

  it.each([
    ["is old", async () => ({ blockNumber: 9, timestamp: NOW.getTime() / 1000 - 121 }), /^block 9 is 121 s/],
    [
      "is in the future",
      async () => ({ blockNumber: 9, timestamp: NOW.getTime() / 1000 + 3_599 }),
      /^block 9 is 3599 s in the future: the clock of the chain or of the database is wrong$/,
    ],
    ["holds no block", async () => null, /^holds no block$/],
    [
      "has no tables yet",
      async () => {
        throw noViews;
      },
      /^first pass not finished$/,
    ],
  ])("is 200 and names the index while it %s", async (_name, head, detail) => {
    expect(await readyz(head)).toMatchObject({
      status: 200,
      body: {
        status: "ok",
        index: { ok: false, detail: expect.stringMatching(detail) },
        sanctions: [{ age_seconds: 2 }, {}],
      },
    });
  });

  it("is 503 and names the check while the database is gone", async () => {
    const head = async () => {
      throw unreachable;
    };
    expect(await readyz(head)).toMatchObject({
      status: 503,
      retryAfter: "5",
      body: {
        status: "unavailable",
        checks: { server: { ok: true }, database: { ok: false } },
        index: { ok: false, detail: "unknown" },
        sanctions: null,
      },
    });
  });

  it.each([3_600, -3_600])("is 503 on a machine whose clock is %d s ahead, in words", async (ahead) => {
    const head = async () => ({ blockNumber: 9, timestamp: NOW.getTime() / 1000 });
    const { app } = fakeApp({ clockAheadSeconds: () => ahead, scores: { head } });
    const response = await app.request("/readyz");
    const detail = `this machine's clock is 3600 s ${ahead < 0 ? "behind" : "ahead of"} the database's, at most 5 s are allowed`;
    expect([response.status, await response.json()]).toMatchObject([
      503,
      { checks: { server: { ok: false, detail }, database: { ok: true } }, index: { ok: true } },
    ]);
  });

  it("is 503 on a server that leaves, which still answers everything else", async () => {
    const life = createServerLife();
    life.leave();
    const { app } = fakeApp({ life });
    const response = await app.request("/readyz");
    expect([response.status, await response.json()]).toMatchObject([
      503,
      { checks: { server: { ok: false, detail: "shuts down" }, database: { ok: true } } },
    ]);
    expect((await app.request("/openapi.json")).status).toBe(200);
  });

  it("is answered by a server of the verification interface alone, as liveness is", async () => {
    const app = createVerificationApp(bothPorts());
    for (const path of ["/readyz", "/livez"]) expect((await app.request(path)).status).toBe(200);
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
