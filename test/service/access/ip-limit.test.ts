import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readTrustedProxies } from "../../../service/access/client-address.ts";
import { createIpLimit } from "../../../service/access/ip-limit.ts";
import { type TokenBucket, takeToken } from "../../../service/access/token-bucket.ts";
import { bodyOf, fakeApp, WALLET, WITH_KEY } from "../api/fake-ports.ts";

function limitAt(perMinute: number, maxAddresses = 1_000) {
  const clock = { ms: 0 };
  const trustedProxies = readTrustedProxies([]);
  if (trustedProxies === null) throw new Error("no list");
  const limit = createIpLimit({ perMinute, trustedProxies, monotonicMs: () => clock.ms, maxAddresses });
  return { clock, call: (socket: string | null) => limit({ socket, forwardedFor: undefined }) };
}

describe("the limit of an address", () => {
  it("counts each address for itself, and calls over no socket for nobody", () => {
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

  it("forgets nobody who could call more for it", () => {
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
