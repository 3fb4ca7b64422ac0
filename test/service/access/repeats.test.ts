import { describe, expect, it } from "vitest";
import { idempotencyKeyOf } from "../../../service/access/idempotent-answers.ts";
import { bodyOf, fakeApp, fakeLedger, KEY, storedScore, WALLET, WALLET_EIP55 } from "../api/fake-ports.ts";

const AHS = `/ahs/${WALLET}`;
const withKey = (idempotencyKey: string) => ({
  headers: { "X-API-Key": KEY, "Idempotency-Key": idempotencyKey },
});

describe("an Idempotency-Key", () => {
  it.each([
    ['"8e03978e-40d5-43dd-bc93-6894a57f9324"', "8e03978e-40d5-43dd-bc93-6894a57f9324"],
    ["8e03978e-40d5-43dd-bc93-6894a57f9324", "8e03978e-40d5-43dd-bc93-6894a57f9324"],
    ['"a \\"b\\" \\\\ c, d"', 'a "b" \\ c, d'],
    ["x".repeat(255), "x".repeat(255)],
    [`"${"x".repeat(255)}"`, "x".repeat(255)],
  ])("reads %s as %s", (given, key) => {
    expect(idempotencyKeyOf({ header: () => given })).toBe(key);
  });

  it.each([
    "",
    '""',
    '"',
    'a"b',
    "two words",
    "a, b",
    "x".repeat(256),
    `"${"x".repeat(256)}"`,
    "ümlaut",
    '"\\n"',
  ])("refuses %j", (given) => {
    expect(() => idempotencyKeyOf({ header: () => given })).toThrow("Idempotency-Key");
  });

  it("that is malformed is a 400 that costs nothing", async () => {
    const { app, keys } = fakeApp();
    const response = await app.request(AHS, withKey("two words"));
    expect([response.status, (await bodyOf(response)).type]).toEqual([400, "/docs#problem-header-malformed"]);
    expect(keys.states()).toEqual([]);
  });
});

describe("a repeat with the same Idempotency-Key", () => {
  it("gets the first one's answer, is charged once, and does no work", async () => {
    let scored = 0;
    const { app, keys } = fakeApp({
      scoreNow: async () => {
        scored += 1;
        return { kind: "stored", row: storedScore({ ahsScore: 80 + scored }) };
      },
    });
    const first = await app.request(AHS, withKey("one"));
    const again = await app.request(AHS, withKey('"one"'));
    expect([first.status, again.status]).toEqual([200, 200]);
    expect(await again.text()).toBe(await first.text());
    expect([scored, keys.states(), keys.balance()]).toEqual([1, ["kept"], 4000]);
  });

  it("is refused with 422 where it asks for something else", async () => {
    const { app, keys } = fakeApp();
    await app.request(AHS, withKey("one"));
    const other = await app.request(`/ahs/route/${WALLET}`, withKey("one"));
    expect([other.status, (await bodyOf(other)).type]).toEqual([422, "/docs#problem-idempotency-key-reused"]);
    const query = await app.request(`${AHS}?include=history`, withKey("one"));
    expect(query.status).toBe(422);
    expect(keys.balance()).toBe(4000);
  });

  it("gets the same answer where it only spells the request differently", async () => {
    const { app, keys } = fakeApp();
    await app.request(AHS, withKey("one"));
    expect((await app.request(`/ahs/${WALLET_EIP55}?unknown=1`, withKey("one"))).status).toBe(200);
    expect(keys.balance()).toBe(4000);
  });

  it("is refused with 409 and Retry-After while the first is under way", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { app, keys } = fakeApp({
      scoreNow: async () => {
        await promise;
        return { kind: "stored", row: storedScore() };
      },
    });
    const first = app.request(AHS, withKey("one"));
    await expect.poll(() => keys.states()).toEqual(["held"]);
    const meanwhile = await app.request(AHS, withKey("one"));
    expect([meanwhile.status, meanwhile.headers.get("retry-after")]).toEqual([409, "2"]);
    resolve();
    expect((await first).status).toBe(200);
    expect((await app.request(AHS, withKey("one"))).status).toBe(200);
    expect(keys.balance()).toBe(4000);
  });

  it("does the work where the first one failed", async () => {
    let calls = 0;
    const { app, keys } = fakeApp({
      scoreNow: async () => {
        calls += 1;
        if (calls === 1) throw new Error("broken");
        return { kind: "stored", row: storedScore() };
      },
    });
    expect((await app.request(AHS, withKey("one"))).status).toBe(500);
    expect(keys.balance()).toBe(5000);
    expect((await app.request(AHS, withKey("one"))).status).toBe(200);
    expect(keys.states()).toEqual(["returned", "kept"]);
  });

  it("is stored for keys without a balance as well", async () => {
    let scored = 0;
    const scoreNow = async () => {
      scored += 1;
      return { kind: "stored" as const, row: storedScore() };
    };
    const { app } = fakeApp({ scoreNow }, fakeLedger({ balanceUnits: null }));
    await app.request(AHS, withKey("one"));
    await app.request(AHS, withKey("one"));
    expect(scored).toBe(1);
  });

  it("is not looked at for requests that are refused", async () => {
    const { app } = fakeApp();
    expect((await app.request("/ahs/x", withKey("one"))).status).toBe(422);
    expect((await app.request(AHS, withKey("one"))).status).toBe(200);
  });
});
