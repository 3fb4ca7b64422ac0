import { HonoRequest } from "hono/request";
import { expect, it } from "vitest";
import { countedKeys, createCallLimiter } from "../../../service/access/call-limiter.ts";
import { Problem } from "../../../service/access/problems.ts";
import { createOwnerAccess } from "../../../service/access/sign-in.ts";
import { fakeApp, fakeLedger, WALLET, WITH_KEY } from "../api/fake-ports.ts";
import { memoryBuckets } from "./memory-gate.ts";

const ROUTE = `/ahs/route/${WALLET}`;

it("tells every caller what is left of its rate", async () => {
  const { app } = fakeApp({}, fakeLedger({ ratePerMinute: 60 }));
  const headers = [];
  for (let call = 0; call < 2; call += 1)
    headers.push(Object.fromEntries((await app.request(ROUTE, WITH_KEY)).headers));
  expect(headers[0]).toMatchObject({ "ratelimit-policy": '"key";q=60;w=60', ratelimit: '"key";r=59;t=1' });
  expect(headers[1]).toMatchObject({ ratelimit: '"key";r=58;t=2' });
});

it("refuses a key beyond its rate with a 429 that costs nothing and tells when to come again", async () => {
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

it("tells what is left with refusals after it, too", async () => {
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
