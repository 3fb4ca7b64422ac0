import {
  type CompleteSIWxInfo,
  createSIWxMessage,
  createSIWxPayload,
  encodeSIWxHeader,
} from "@x402/extensions/sign-in-with-x";
import type { Address } from "viem";
import { expect, test } from "vitest";
import { jsonRequest, payer, payFetch, type Shop, UNKNOWN } from "./shop.ts";

type Headers = Readonly<Record<string, string>>;

/** Declares tests of keys that a wallet buys, and of what it may do as their buyer. */
export function describeSoldKeys({ kit, url, pay, baseUrl }: Shop): void {
  /** Bought by the first test, used by the others. */
  let key: Record<"api_key" | "key_id", string>;

  test("a wallet buys a key once, however often its payment is shown, and repeats show no secret", async () => {
    const before = await kit.received();
    const show = await purchase(2);
    const bought = await show();
    key = (await bought.json()) as typeof key;
    expect([bought.status, key]).toMatchObject([200, { balance_usd: 2, name: payer.address }]);
    expect((await kit.received()) - before).toBe(2_000_000n);
    expect((await show()).status).toBe(402);
    const repeated = await show(await signedIn());
    expect([repeated.status, await repeated.json()]).toEqual([200, { ...key, api_key: null }]);
    expect((await kit.received()) - before).toBe(2_000_000n);
    const { rows } = await kit.db.$client.query("select id from ahs.api_key");
    expect(rows).toEqual([{ id: key.key_id }]);
  });

  test("who lost the key signs in as its buyer and gets another", async () => {
    const rotated = await fetch(url("/keys/rotate"), { method: "POST", headers: await signedIn() });
    const next = (await rotated.json()) as typeof key;
    expect([rotated.status, next.key_id]).toEqual([200, key.key_id]);
    expect(await statusesOf(key, next)).toEqual([401, 200]);
    key = next;
  });

  test("a key is topped up, and a call is charged to it", async () => {
    const before = await kit.received();
    const request = jsonRequest("POST", { credits_usd: 3.5 }, byKey());
    const topped = await payFetch(url("/keys/topup"), request);
    expect([topped.status, await topped.json()]).toMatchObject([
      200,
      { balance_usd: 5.5, credited_usd: 3.5 },
    ]);
    expect((await kit.received()) - before).toBe(3_500_000n);
    expect((await fetch(url(`/ahs/route/${UNKNOWN}`), { headers: byKey() })).status).toBe(200);
    const self = await fetch(url("/keys/self"), { headers: byKey() });
    expect(await self.json()).toMatchObject({
      balance_usd: 5.49,
      spent: { endpoints: [{ endpoint: "GET /ahs/route/{address}", calls: 1, spent_usd: 0.01 }] },
    });
  });

  test("a paying wallet's policy decides its own calls and no others", async () => {
    const policy = { instant_grades: ["A"], escrow_grades: [], insufficient_action: "reject" };
    expect(await putPolicy(policy, await signedIn())).toBe(200);
    const paid = await payFetch(url(`/ahs/route/${UNKNOWN}`));
    const keyed = await fetch(url(`/ahs/route/${UNKNOWN}`), { headers: byKey() });
    expect([await paid.json(), await keyed.json()]).toMatchObject([
      { action: "reject", reason: "not_scored", policy_applied: true },
      { action: "escrow", reason: "not_scored", policy_applied: false },
    ]);
  });

  test("neither a wallet nor the key that it bought can allowlist that wallet", async () => {
    const policy = { instant_grades: [], escrow_grades: [], allowlist: [payer.address] };
    expect(await putPolicy(policy, await signedIn())).toBe(422);
    expect(await putPolicy(policy, byKey())).toBe(422);
  });

  test("a contract wallet signs in by what its owner signed", async () => {
    const policy = { instant_grades: ["A"], escrow_grades: ["B"] };
    const signed = await signedInAs(kit.chain.contracts.smartWallet);
    expect(await putPolicy(policy, signed)).toBe(200);
    expect(await putPolicy(policy, signed)).toBe(401);
    expect(await putPolicy(policy, await signedInAs(UNKNOWN))).toBe(401);
  });

  test("a purchase that fails after the money moved is one key in the end, for its claim or its buyer", async () => {
    const before = await kit.received();
    const show = await purchase(4);
    const lost = await whileRefused("insert on ahs.key_credit for each row", show);
    const { claim } = (await lost.json()) as { claim: string };
    expect(lost.status).toBe(503);
    // The key is made and its answer is not kept, as when a server dies between the two.
    const refused = "update on ahs.payment for each row when (new.state = 'answered')";
    const made = await whileRefused(refused, () => show({ "X-Payment-Claim": claim }));
    const first = (await made.json()) as typeof key;
    await kit.db.$client.query("update ahs.payment set deadline = now() where state = 'settled'");
    const again = await show(await signedIn());
    const second = (await again.json()) as typeof key;
    expect([again.status, second]).toMatchObject([200, { key_id: first.key_id, balance_usd: 4 }]);
    expect(await statusesOf(first, second)).toEqual([401, 200]);
    expect((await kit.received()) - before).toBe(4_000_000n);
    const { rows } = await kit.db.$client.query(
      "select key_id, units::int from ahs.key_credit where units = 4000",
    );
    expect(rows).toEqual([{ key_id: first.key_id, units: 4_000 }]);
  });

  /** Signs a payment for a key, and returns what shows it to the service. */
  async function purchase(credits_usd: number) {
    const body = { credits_usd };
    const payment = await pay("/keys", jsonRequest("POST", body));
    return (more: Headers = {}) => fetch(url("/keys"), jsonRequest("POST", body, { ...payment, ...more }));
  }

  /** Does something while the database refuses one kind of statement. */
  async function whileRefused<Result>(statement: string, doing: () => Promise<Result>): Promise<Result> {
    const { $client: database } = kit.db;
    const table = statement.split(" ")[2];
    await database.query(`
      create function ahs.refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$;
      create trigger refuse before ${statement} execute function ahs.refuse()`);
    try {
      return await doing();
    } finally {
      await database.query(`drop trigger refuse on ${table}; drop function ahs.refuse()`);
    }
  }

  function byKey(): Headers {
    return { "X-API-Key": key.api_key };
  }

  function statusesOf(...keys: readonly (typeof key)[]): Promise<number[]> {
    const headers = keys.map(({ api_key }) => ({ "X-API-Key": api_key }));
    return Promise.all(headers.map(async (own) => (await fetch(url("/keys/self"), { headers: own })).status));
  }

  async function putPolicy(policy: unknown, headers: Headers): Promise<number> {
    return (await fetch(url("/ahs/route/policy"), jsonRequest("PUT", policy, headers))).status;
  }

  function signInInfo(): CompleteSIWxInfo {
    return {
      domain: new URL(baseUrl()).host,
      uri: baseUrl(),
      version: "1",
      chainId: "eip155:31337",
      type: "eip191",
      nonce: crypto.randomUUID().replaceAll("-", ""),
      issuedAt: new Date().toISOString(),
    };
  }

  /** The header of the payer, as the public client makes it. */
  async function signedIn(): Promise<Headers> {
    const payload = await createSIWxPayload(signInInfo(), payer, baseUrl());
    return { "SIGN-IN-WITH-X": encodeSIWxHeader(payload) };
  }

  /** The header of an address for which the payer signs. */
  async function signedInAs(address: Address): Promise<Headers> {
    const info = signInInfo();
    const signature = await payer.signMessage({ message: createSIWxMessage(info, address) });
    return { "SIGN-IN-WITH-X": encodeSIWxHeader({ ...info, address, signature }) };
  }
}
