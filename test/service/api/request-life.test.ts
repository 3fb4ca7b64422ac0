import { describe, expect, it } from "vitest";
import { createServerLife } from "../../../service/api/kit/server-life.ts";
import { bodyOf, fakeApp, storedScore, WALLET, WITH_KEY } from "./fake-ports.ts";

const AHS = `/ahs/${WALLET}`;
const hangs = () => new Promise<never>(() => undefined);

describe("a request that takes too long", () => {
  it("is a 503 that costs nothing, and what it started is not heard any more", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { app, keys } = fakeApp({
      deadlineMs: 20,
      scoreNow: async () => {
        await promise;
        return { kind: "stored", row: storedScore() };
      },
    });
    const response = await app.request(AHS, WITH_KEY);
    expect([response.status, (await bodyOf(response)).type]).toEqual([
      503,
      "/docs#problem-deadline-exceeded",
    ]);
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
    resolve();
    await promise;
    expect([keys.states(), keys.balance()]).toEqual([["returned"], 5000]);
  });

  it("is a 503 before any charge where it cannot be prepared", async () => {
    const { app, keys } = fakeApp({ deadlineMs: 20, scores: { snapshot: hangs } });
    expect((await app.request(AHS, WITH_KEY)).status).toBe(503);
    expect(keys.states()).toEqual([]);
  });

  it("is a 503 for a free endpoint as well", async () => {
    const { app } = fakeApp({ deadlineMs: 20, epochList: hangs });
    expect((await app.request("/epochs/1")).status).toBe(503);
  });

  it("frees what was prepared only once nothing uses it any more", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    let released = 0;
    const { app } = fakeApp({
      deadlineMs: 20,
      scoreNow: async () => {
        await promise;
        return { kind: "not-indexed" };
      },
      infrastructure: {
        reserve: () => ({
          visit: hangs,
          release: () => {
            released += 1;
          },
        }),
      },
    });
    const response = await app.request(`${AHS}?agent_url=https://agent.example/`, WITH_KEY);
    expect([response.status, released]).toEqual([503, 0]);
    resolve();
    await expect.poll(() => released).toBe(1);
  });
});

describe("a server that shuts down", () => {
  it("takes no new request but the one for liveness, and says so", async () => {
    const life = createServerLife();
    life.drain();
    const { app, keys } = fakeApp({ life });
    for (const path of [AHS, "/readyz", "/docs", "/nothing"]) {
      const response = await app.request(path, WITH_KEY);
      expect([path, response.status]).toEqual([path, 503]);
      expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
      expect((await bodyOf(response)).type).toBe("/docs#problem-draining");
    }
    expect((await app.request("/livez")).status).toBe(200);
    expect(keys.states()).toEqual([]);
  });

  it("finishes what is under way while it drains, and gives the price of the rest back when it stops", async () => {
    const life = createServerLife();
    const { promise, resolve } = Promise.withResolvers<void>();
    const scoreNow = async () => {
      await promise;
      return { kind: "stored" as const, row: storedScore() };
    };
    const done = fakeApp({ life, scoreNow });
    const cut = fakeApp({ life, scoreNow: hangs });
    const [finishing, hanging] = [done.app.request(AHS, WITH_KEY), cut.app.request(AHS, WITH_KEY)];
    await expect.poll(() => [done.keys.states(), cut.keys.states()]).toEqual([["held"], ["held"]]);
    life.drain();
    resolve();
    expect((await finishing).status).toBe(200);
    life.stop();
    expect((await hanging).status).toBe(503);
    expect([done.keys.states(), cut.keys.states()]).toEqual([["kept"], ["returned"]]);
    await life.idle();
  });

  it("is idle only once nothing is under way", async () => {
    const life = createServerLife();
    await life.idle();
    const leave = life.enter();
    let idle = false;
    const waited = life.idle().then(() => {
      idle = true;
    });
    await Promise.resolve();
    expect(idle).toBe(false);
    leave();
    await waited;
  });
});
