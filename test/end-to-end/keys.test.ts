import type { PaymentRequired } from "@x402/core/types";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import {
  type CompleteSIWxInfo,
  createSIWxMessage,
  createSIWxPayload,
  encodeSIWxHeader,
} from "@x402/extensions/sign-in-with-x";
import { wrapFetchWithPayment, x402Client, x402HTTPClient } from "@x402/fetch";
import { type Address, createPublicClient, getAddress, http, parseAbi } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { roleAccounts } from "../../devnet/accounts.ts";
import { until } from "../support/anvil-testkit/script.ts";
import { startServer, type TestServer } from "../support/anvil-testkit/services.ts";
import { bootTestkit, type Testkit } from "../support/anvil-testkit/testkit.ts";

const STRANGER = getAddress("0x00000000000000000000000000000000000a9e99");
const BLOCK_MS = 500;
const TOKEN = parseAbi(["function balanceOf(address) view returns (uint256)"]);
const { payer, payee } = roleAccounts();
const buyer = new x402Client().register("eip155:31337", new ExactEvmScheme(payer)).setSpendControls(false);
const payFetch = wrapFetchWithPayment(fetch, buyer);

let kit: Testkit;
let server: TestServer;
let mining: NodeJS.Timeout;
/** What the first test buys and the others use. */
let key: Record<"api_key" | "key_id", string>;

beforeAll(async () => {
  kit = await bootTestkit();
  await kit.chain.mine(40, 0);
  const indexer = await kit.startIndexer();
  await indexer.reach(await kit.chain.head());
  kit.startWorker();
  server = await startServer({ ...kit, rpcUrl: kit.chain.rpcUrl, env: { HISTORY_SOURCE: "none" } });
  kit.onClose(() => server.stop());
  mining = setInterval(() => void kit.chain.tick(), BLOCK_MS);
  await until({ what: "routes are answered", timeoutMs: 170_000 }, async () => {
    const unpaid = await fetch(`${server.baseUrl}/ahs/route/${STRANGER}`);
    return unpaid.status === 402 ? true : null;
  });
});

afterAll(async () => {
  clearInterval(mining);
  await kit.close();
});

test("a wallet buys a key once, however often its payment is shown, and repeats show no secret", async () => {
  const before = await received();
  const request = jsonRequest("POST", { credits_usd: 2 });
  const unpaid = (await (await fetch(`${server.baseUrl}/keys`, request)).json()) as PaymentRequired;
  const payload = await buyer.createPaymentPayload(unpaid);
  const paid = { ...request.headers, ...new x402HTTPClient(buyer).encodePaymentSignatureHeader(payload) };
  const show = async (more: Readonly<Record<string, string>> = {}) =>
    fetch(`${server.baseUrl}/keys`, { ...request, headers: { ...paid, ...more } });
  const bought = await show();
  key = (await bought.json()) as typeof key;
  expect([bought.status, key]).toMatchObject([200, { balance_usd: 2, name: payer.address }]);
  expect((await received()) - before).toBe(2_000_000n);
  expect((await show()).status).toBe(402);
  const repeated = await show({ "SIGN-IN-WITH-X": await signedIn() });
  expect([repeated.status, await repeated.json()]).toEqual([200, { ...key, api_key: null }]);
  expect((await received()) - before).toBe(2_000_000n);
  const { rows } = await kit.db.$client.query("select id from ahs.api_key");
  expect(rows).toEqual([{ id: key.key_id }]);
});

test("who lost the key signs in as its buyer and gets another", async () => {
  const rotated = await fetch(`${server.baseUrl}/keys/rotate`, {
    method: "POST",
    headers: { "SIGN-IN-WITH-X": await signedIn() },
  });
  const next = (await rotated.json()) as typeof key;
  expect([rotated.status, next.key_id]).toEqual([200, key.key_id]);
  expect(await statusOf("/keys/self", key.api_key)).toBe(401);
  expect(await statusOf("/keys/self", next.api_key)).toBe(200);
  key = next;
});

test("a key is topped up, and a call is charged to it", async () => {
  const before = await received();
  const { headers, ...request } = jsonRequest("POST", { credits_usd: 3.5 });
  const topped = await payFetch(`${server.baseUrl}/keys/topup`, {
    ...request,
    headers: { ...headers, "X-API-Key": key.api_key },
  });
  expect([topped.status, await topped.json()]).toMatchObject([200, { balance_usd: 5.5, credited_usd: 3.5 }]);
  expect((await received()) - before).toBe(3_500_000n);
  expect(await statusOf(`/ahs/route/${STRANGER}`, key.api_key)).toBe(200);
  const self = await fetch(`${server.baseUrl}/keys/self`, { headers: { "X-API-Key": key.api_key } });
  expect(await self.json()).toMatchObject({
    balance_usd: 5.49,
    spent: { endpoints: [{ endpoint: "GET /ahs/route/{address}", calls: 1, spent_usd: 0.01 }] },
  });
});

test("a paying wallet's policy decides its own calls and no others", async () => {
  const policy = { instant_grades: ["A"], escrow_grades: [], insufficient_action: "reject" };
  expect(await putPolicy(policy, { "SIGN-IN-WITH-X": await signedIn() })).toBe(200);
  const paid = await payFetch(`${server.baseUrl}/ahs/route/${STRANGER}`);
  const byKey = await fetch(`${server.baseUrl}/ahs/route/${STRANGER}`, {
    headers: { "X-API-Key": key.api_key },
  });
  expect([await paid.json(), await byKey.json()]).toMatchObject([
    { action: "reject", reason: "not_scored", policy_applied: true },
    { action: "escrow", reason: "not_scored", policy_applied: false },
  ]);
});

test("neither a wallet nor the key that it bought can allowlist that wallet", async () => {
  const policy = { instant_grades: [], escrow_grades: [], allowlist: [payer.address] };
  expect(await putPolicy(policy, { "SIGN-IN-WITH-X": await signedIn() })).toBe(422);
  expect(await putPolicy(policy, { "X-API-Key": key.api_key })).toBe(422);
});

test("a contract wallet signs in by what its owner signed", async () => {
  const policy = { instant_grades: ["A"], escrow_grades: ["B"] };
  const { smartWallet } = kit.chain.contracts;
  const header = await signedInAs(smartWallet);
  expect(await putPolicy(policy, { "SIGN-IN-WITH-X": header })).toBe(200);
  expect(await putPolicy(policy, { "SIGN-IN-WITH-X": header })).toBe(401);
  expect(await putPolicy(policy, { "SIGN-IN-WITH-X": await signedInAs(STRANGER) })).toBe(401);
});

test("a purchase that fails after the money moved is one key in the end, for its claim or its buyer", async () => {
  const before = await received();
  const request = jsonRequest("POST", { credits_usd: 4 });
  const unpaid = (await (await fetch(`${server.baseUrl}/keys`, request)).json()) as PaymentRequired;
  const payload = await buyer.createPaymentPayload(unpaid);
  const paid = { ...request.headers, ...new x402HTTPClient(buyer).encodePaymentSignatureHeader(payload) };
  const show = async (more: Readonly<Record<string, string>> = {}) =>
    fetch(`${server.baseUrl}/keys`, { ...request, headers: { ...paid, ...more } });
  const lost = await whileRefused("insert on ahs.key_credit for each row", show);
  const { claim } = (await lost.json()) as { claim: string };
  expect(lost.status).toBe(500);
  // The key is made and its answer is not kept, as when a server dies between the two.
  const proof = { "X-Payment-Claim": claim };
  const made = await whileRefused(
    "update on ahs.payment for each row when (new.state = 'answered')",
    async () => show(proof),
  );
  const first = (await made.json()) as typeof key;
  await kit.db.$client.query("update ahs.payment set deadline = now() where state = 'settled'");
  const again = await show({ "SIGN-IN-WITH-X": await signedIn() });
  const second = (await again.json()) as typeof key;
  expect([again.status, second]).toMatchObject([200, { key_id: first.key_id, balance_usd: 4 }]);
  expect([await statusOf("/keys/self", first.api_key), await statusOf("/keys/self", second.api_key)]).toEqual(
    [401, 200],
  );
  expect((await received()) - before).toBe(4_000_000n);
  const { rows } = await kit.db.$client.query(
    "select key_id, units::int from ahs.key_credit where units = 4000",
  );
  expect(rows).toEqual([{ key_id: first.key_id, units: 4_000 }]);
});

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

function jsonRequest(method: string, body: unknown) {
  return { method, headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
}

async function statusOf(path: string, apiKey: string): Promise<number> {
  return (await fetch(`${server.baseUrl}${path}`, { headers: { "X-API-Key": apiKey } })).status;
}

async function putPolicy(policy: unknown, headers: Readonly<Record<string, string>>): Promise<number> {
  const request = jsonRequest("PUT", policy);
  const all = { ...request.headers, ...headers };
  return (await fetch(`${server.baseUrl}/ahs/route/policy`, { ...request, headers: all })).status;
}

function signInInfo(): CompleteSIWxInfo {
  return {
    domain: new URL(server.baseUrl).host,
    uri: server.baseUrl,
    version: "1",
    chainId: "eip155:31337",
    type: "eip191",
    nonce: crypto.randomUUID().replaceAll("-", ""),
    issuedAt: new Date().toISOString(),
  };
}

/** The header of the payer, as the public client makes it. */
async function signedIn(): Promise<string> {
  return encodeSIWxHeader(await createSIWxPayload(signInInfo(), payer, server.baseUrl));
}

/** The header of an address for which the payer signs. */
async function signedInAs(address: Address): Promise<string> {
  const info = signInInfo();
  const signature = await payer.signMessage({ message: createSIWxMessage(info, address) });
  return encodeSIWxHeader({ ...info, address, signature });
}

async function received(): Promise<bigint> {
  const client = createPublicClient({ transport: http(kit.chain.rpcUrl) });
  return client.readContract({
    address: kit.chain.contracts.usdc,
    abi: TOKEN,
    functionName: "balanceOf",
    args: [payee.address],
  });
}
