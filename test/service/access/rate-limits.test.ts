import fc from "fast-check";
import { HonoRequest } from "hono/request";
import { describe, expect, it } from "vitest";
import { readTrustedProxies } from "../../../service/access/client-address.ts";
import { Problem } from "../../../service/access/problems.ts";
import {
  countedKeys,
  createCallLimiter,
  createIpLimit,
  refilled,
  secondsToFull,
  secondsToNext,
  type TokenBucket,
  takeToken,
} from "../../../service/access/rate-limits.ts";
import { createOwnerAccess } from "../../../service/access/sign-in.ts";
import { bodyOf, fakeApp, fakeLedger, WALLET, WITH_KEY } from "../api/fake-ports.ts";
import { memoryBuckets } from "./memory-gate.ts";

const perMinute = fc.integer({ min: 1, max: 10_000 });
/** Pauses between calls in milliseconds, now and then of a clock that goes back. */
const pauses = fc.array(
  fc.oneof(fc.integer({ min: 0, max: 5_000 }), fc.integer({ min: -1_000, max: 90_000 })),
  {
    minLength: 1,
    maxLength: 200,
  },
);

/** Times at which calls were granted. */
function grantedAt(
  rate: number,
  waits: readonly number[],
): { readonly granted: number[]; readonly last: TokenBucket } {
  let now = 1_000_000;
  let bucket: TokenBucket = { tokens: rate, at: now };
  const granted: number[] = [];
  for (const wait of waits) {
    now += wait;
    const taken = takeToken(bucket, rate, now);
    if (taken.granted) granted.push(taken.bucket.at);
    bucket = taken.bucket;
  }
  return { granted, last: bucket };
}

describe("a token bucket", () => {
  it("grants a whole quota at once, and then one call as often as the rate says", () => {
    let bucket: TokenBucket | null = null;
    for (let call = 0; call < 60; call += 1) {
      const taken = takeToken(bucket, 60, 0);
      expect(taken.granted).toBe(true);
      bucket = taken.bucket;
    }
    expect(takeToken(bucket, 60, 999).granted).toBe(false);
    expect(takeToken(bucket, 60, 1_000).granted).toBe(true);
  });

  it("never grants more in any time than it holds and what came back meanwhile", () => {
    fc.assert(
      fc.property(perMinute, pauses, (rate, waits) => {
        const { granted } = grantedAt(rate, waits);
        for (const [first, from] of granted.entries()) {
          for (const [last, to] of granted.entries()) {
            if (last < first) continue;
            expect(last - first + 1).toBeLessThanOrEqual(rate + ((to - from) * rate) / 60_000 + 1e-6);
          }
        }
      }),
      { numRuns: 30 },
    );
  });

  it("holds between nothing and its quota, whatever the clock does, and loses nothing by a refusal", () => {
    fc.assert(
      fc.property(perMinute, pauses, fc.integer({ min: 0, max: 120_000 }), (rate, waits, later) => {
        const { last } = grantedAt(rate, waits);
        expect(last.tokens).toBeGreaterThanOrEqual(0);
        expect(last.tokens).toBeLessThanOrEqual(rate);
        const refused = takeToken(last, rate, last.at);
        if (!refused.granted)
          expect(refilled(refused.bucket, rate, last.at + later)).toBe(refilled(last, rate, last.at + later));
      }),
    );
  });

  it("grants the next call after the seconds that it names, and is full after the others", () => {
    fc.assert(
      fc.property(perMinute, pauses, (rate, waits) => {
        const { last } = grantedAt(rate, waits);
        expect(refilled(last, rate, last.at + secondsToFull(last.tokens, rate) * 1_000)).toBeCloseTo(rate, 6);
        if (last.tokens >= 1) return;
        const next = last.at + secondsToNext(last.tokens, rate) * 1_000;
        expect(refilled(last, rate, next)).toBeGreaterThanOrEqual(1 - 1e-9);
      }),
    );
  });
});

const ROUTE = `/ahs/route/${WALLET}`;

it("reports to every caller the rest of its rate", async () => {
  const { app } = fakeApp({}, fakeLedger({ ratePerMinute: 60 }));
  const headers = [];
  for (let call = 0; call < 2; call += 1)
    headers.push(Object.fromEntries((await app.request(ROUTE, WITH_KEY)).headers));
  expect(headers[0]).toMatchObject({ "ratelimit-policy": '"key";q=60;w=60', ratelimit: '"key";r=59;t=1' });
  expect(headers[1]).toMatchObject({ ratelimit: '"key";r=58;t=2' });
});

it("refuses a key beyond its rate with a free 429 that names the time to come again", async () => {
  const { app, keys } = fakeApp({}, fakeLedger({ ratePerMinute: 2 }));
  for (let call = 0; call < 2; call += 1) await app.request(ROUTE, WITH_KEY);
  const response = await app.request(ROUTE, WITH_KEY);
  expect(response.status).toBe(429);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "retry-after": "30",
    "ratelimit-policy": '"key";q=2;w=60',
    ratelimit: '"key";r=0;t=60',
  });
  expect(await response.json()).toMatchObject({
    type: "https://iana.org/assignments/http-problem-types#quota-exceeded",
    "violated-policies": ["key"],
  });
  expect(keys.balance()).toBe(4980);
});

it("reports the rest with refusals after it, too", async () => {
  const { app } = fakeApp({}, fakeLedger({ balanceUnits: 0 }));
  const response = await app.request(ROUTE, WITH_KEY);
  expect([response.status, response.headers.get("ratelimit")]).toEqual([402, '"key";r=599;t=1']);
});

it("counts keys and wallets each for itself", async () => {
  const limiter = createCallLimiter(memoryBuckets());
  await limiter.take({ kind: "key", keyId: "a" }, 1);
  await limiter.take({ kind: "key", keyId: "b" }, 1);
  await limiter.take({ kind: "wallet", address: WALLET }, 1);
  await expect(limiter.take({ kind: "wallet", address: WALLET }, 1)).rejects.toThrow(Problem);
});

it("counts free calls of a key and of a wallet that signs in against their own rates", async () => {
  const limiter = createCallLimiter(memoryBuckets());
  const caller = { kind: "key", keyId: "one", balanceUnits: 5000, ratePerMinute: 1 } as const;
  const keys = {
    identify: async (request: { header(name: string): string | undefined }) =>
      request.header("x-api-key") === undefined ? null : caller,
  };
  const owners = createOwnerAccess({
    keys,
    signIn: async () => WALLET,
    audience: { origin: "https://api.example", chainId: 31_337 },
    limiter,
    payerRatePerMinute: 1,
  });
  const counted = countedKeys(keys, limiter);
  const byKey = new HonoRequest(new Request("https://api.example/", WITH_KEY));
  const bySignIn = new HonoRequest(new Request("https://api.example/"));
  expect(await owners.identify(byKey)).toEqual({ kind: "key", keyId: "one" });
  expect(await owners.identify(bySignIn)).toEqual({ kind: "wallet", address: WALLET });
  const limited = { code: "rate-limited" };
  await expect(owners.identify(byKey)).rejects.toMatchObject(limited);
  await expect(owners.identify(bySignIn)).rejects.toMatchObject(limited);
  await expect(counted.identify(byKey)).rejects.toMatchObject(limited);
  expect(await counted.identify(bySignIn)).toBeNull();
});

function limitAt(perMinute: number, maxAddresses = 1_000) {
  const clock = { ms: 0 };
  const trustedProxies = readTrustedProxies([]);
  if (trustedProxies === null) throw new Error("no list");
  const limit = createIpLimit({ perMinute, trustedProxies, monotonicMs: () => clock.ms, maxAddresses });
  return { clock, call: (socket: string | null) => limit({ socket, forwardedFor: undefined }) };
}

describe("the limit of an address", () => {
  it("counts each address for itself, and does not count calls without a socket", () => {
    const { call } = limitAt(2);
    expect([call("192.0.2.1"), call("192.0.2.1"), call("192.0.2.2")]).toEqual([null, null, null]);
    expect(call("192.0.2.1")).toEqual({ policy: "ip", perMinute: 2, tokens: 0 });
    for (let count = 0; count < 10; count += 1) expect(call(null)).toBeNull();
  });

  it("counts what one customer has of IPv6 as one address", () => {
    const { call } = limitAt(1);
    expect(call("2001:db8::1")).toBeNull();
    expect(call("2001:db8::ffff:2")).not.toBeNull();
    expect(call("2001:db8:0:1::1")).toBeNull();
  });

  it("drops no address that could call more for it", () => {
    const step = fc.record({
      wait: fc.integer({ min: 0, max: 50_000 }),
      who: fc.integer({ min: 0, max: 3 }),
    });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), fc.array(step, { maxLength: 120 }), (perMinute, steps) => {
        const { clock, call } = limitAt(perMinute);
        const buckets = new Map<number, TokenBucket>();
        for (const { wait, who } of steps) {
          clock.ms += wait;
          const { granted, bucket } = takeToken(buckets.get(who) ?? null, perMinute, clock.ms);
          buckets.set(who, bucket);
          expect(call(`192.0.2.${who}`) === null).toBe(granted);
        }
      }),
    );
  });

  it("remembers no more addresses than it may, those seen last at the least", () => {
    const { call } = limitAt(1, 100);
    for (let high = 0; high < 40; high += 1) {
      for (let low = 0; low < 250; low += 1) call(`10.0.${high}.${low}`);
    }
    expect(call("10.0.39.249")).not.toBeNull();
    expect(call("10.0.0.0")).toBeNull();
  });
});

describe("a request beyond the limit of its address", () => {
  const exhausted = () => fakeApp({ ipLimit: () => ({ policy: "ip", perMinute: 30, tokens: 0.5 }) });

  it("is a quota problem that says when to come again, before anything is looked at", async () => {
    const { app, keys } = exhausted();
    const response = await app.request(`/ahs/${WALLET}`, WITH_KEY);
    expect(response.status).toBe(429);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "retry-after": "1",
      "ratelimit-policy": '"ip";q=30;w=60',
      ratelimit: '"ip";r=0;t=59',
      "access-control-allow-origin": "*",
      "content-type": "application/problem+json",
    });
    expect(await bodyOf(response)).toMatchObject({
      type: "https://iana.org/assignments/http-problem-types#quota-exceeded",
      status: 429,
      "violated-policies": ["ip"],
    });
    expect(keys.states()).toEqual([]);
  });

  it("is one of any path, but a browser's preflight is not", async () => {
    const { app } = exhausted();
    expect((await app.request("/nothing")).status).toBe(429);
    expect((await app.request("/docs")).status).toBe(429);
    const preflight = { method: "OPTIONS", headers: { "Access-Control-Request-Method": "GET" } };
    expect((await app.request("/docs", preflight)).status).toBe(204);
  });
});
