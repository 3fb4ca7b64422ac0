import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decodePaymentRequiredHeader } from "@x402/core/http";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { paymentMiddleware } from "@x402/express";
import { wrapFetchWithPayment, x402Client } from "@x402/fetch";
import express from "express";
import { type Address, createPublicClient, encodeFunctionData, type Hex, http } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { beforeAll, expect, test } from "vitest";
import { type GateCheck, type TrustGateOptions, trustGate } from "../../client/src/gate.ts";
import { privateKeyOf, roleAccounts } from "../../devnet/accounts.ts";
import { gatedSale, localFacilitator, openShop, PRICE } from "../../examples/gated-shop.ts";
import { usdCoinAbi } from "../../service/chain/abi/usd-coin.ts";
import type { TestServer } from "../support/anvil-testkit/services.ts";
import { useTestkit } from "../support/anvil-testkit/testkit.ts";
import { createTestKey, readBalance } from "../support/test-keys.ts";
import { until } from "../support/until.ts";

const GOOD_KEY: Hex = `0x${"a9".repeat(32)}`;
const GOOD = privateKeyToAccount(GOOD_KEY);
const FAILING = privateKeyToAccount(`0x${"f9".repeat(32)}`);
const SHOP: Address = "0x00000000000000000000000000000000000a9e77";
const NETWORK = "eip155:31337";
const HISTORY_DAYS = 14;
const FINALITY_BLOCKS = 30;
const BLOCK_MS = 300;
const USD = 1_000_000n;
const { deployer, payer, relayer } = roleAccounts();

const kit = useTestkit({ ageSeconds: (HISTORY_DAYS + 6) * 86_400 });
let server: TestServer;
let key: Awaited<ReturnType<typeof createTestKey>>;

beforeAll(async () => {
  const { chain } = kit;
  for (const { address } of [GOOD, FAILING]) {
    await chain.register(address);
    const mint = encodeFunctionData({ abi: usdCoinAbi, functionName: "mint", args: [address, USD] });
    await chain.send({ from: deployer.address, to: chain.contracts.usdc, data: mint });
    await chain.succeedInCrowd(address);
  }
  for (let day = 0; day < HISTORY_DAYS; day += 1) {
    await chain.moveTime(86_400);
    await chain.succeed(GOOD.address);
    await chain.revert(FAILING.address);
    await chain.revert(FAILING.address);
  }
  await chain.toWallClock();
  await chain.mine(FINALITY_BLOCKS + 5, 0);
  await kit.startIndexer();
  kit.startWorker();
  server = await kit.startServer({ env: { MAX_INDEX_AGE_SECONDS: "3600" } });
  key = await createTestKey(kit.db, 1_000);
  await until({ what: "both wallets have a grade", timeoutMs: 180_000 }, async () => {
    const { rowCount } = await kit.db.$client.query(
      "select 1 from ahs.current_score where grade is not null",
    );
    return rowCount === 2 ? true : null;
  });
  kit.startMining(BLOCK_MS);
}, 420_000);

/** A shop of the official server package on the chain, its sale, and the checks of its gate. */
function open(
  rules: Partial<Omit<TrustGateOptions, "client" | "baseUrl" | "apiKey">> = {},
  apiKey = key.secret,
) {
  const checks: GateCheck[] = [];
  const gate = trustGate({
    baseUrl: server.baseUrl,
    apiKey,
    onUnavailable: "refuse",
    log: (check) => checks.push(check),
    ...rules,
  });
  const { chain } = kit;
  const gasKey = privateKeyOf(relayer);
  const facilitator = localFacilitator({ rpcUrl: chain.rpcUrl, id: 31_337, gasKey });
  const { usdc } = chain.contracts;
  const sale = { gate, facilitator, network: NETWORK, usdc, payTo: SHOP } as const;
  const shop = openShop(sale);
  return { sale, send: (request: Request) => shop.request(request), checks };
}

type Signer = ConstructorParameters<typeof ExactEvmScheme>[0];

/** Buys by the official client; returns its answer, and the money that both balances show. */
async function buy(
  {
    send,
    url = "http://shop.example",
  }: { send: (request: Request) => Response | Promise<Response>; url?: string },
  signer: Signer,
) {
  const before = await Promise.all([balanceOf(signer.address), balanceOf(SHOP)]);
  const buyer = new x402Client().register(NETWORK, new ExactEvmScheme(signer)).setSpendControls(false);
  const payFetch = wrapFetchWithPayment(async (input, init) => send(new Request(input, init)), buyer);
  const response = await payFetch(`${url}/forecast`);
  const terms = response.headers.get("payment-required");
  const [paid, received] = await Promise.all([balanceOf(signer.address), balanceOf(SHOP)]);
  return {
    status: response.status,
    body: await response.json(),
    error: terms === null ? null : decodePaymentRequiredHeader(terms).error,
    paid: before[0] - paid,
    received: received - before[1],
  };
}

function balanceOf(address: Address): Promise<bigint> {
  return createPublicClient({ transport: http(kit.chain.rpcUrl) }).readContract({
    address: kit.chain.contracts.usdc,
    abi: usdCoinAbi,
    functionName: "balanceOf",
    args: [address],
  });
}

const SERVED = { status: 200, body: { forecast: "rain" }, error: null, paid: PRICE, received: PRICE };
const REFUSED = { status: 402, body: {}, paid: 0n, received: 0n };

test("a good payer is served and pays, for one lookup", async () => {
  const before = await readBalance(kit.db, key.id);
  const shop = open();
  expect(await buy(shop, GOOD)).toEqual(SERVED);
  expect(await buy(shop, GOOD)).toEqual(SERVED);
  expect(shop.checks).toMatchObject([
    { wallet: GOOD.address.toLowerCase(), allowed: true, action: "instant_settle", cached: false },
    { wallet: GOOD.address.toLowerCase(), allowed: true, action: "instant_settle", cached: true },
  ]);
  expect(before - (await readBalance(kit.db, key.id))).toBe(10);
});

test("a failing payer is refused before settlement with the reason, and keeps its money", async () => {
  const shop = open();
  const wallet = FAILING.address.toLowerCase();
  expect(await buy(shop, FAILING)).toEqual({
    ...REFUSED,
    error: `payer_not_trusted: The payer ${wallet} is not accepted: Agent Health answers reject (reason grade, grade F). Nothing is settled.`,
  });
  expect(shop.checks).toMatchObject([{ wallet, allowed: false, action: "reject", grade: "F" }]);
});

const byAmount = { amountUsd: () => "0.01", onUnavailable: "allow" } as const;

test("a refused wallet that signs again and again costs the seller one lookup, for an amount too", async () => {
  const before = await readBalance(kit.db, key.id);
  const shop = open(byAmount);
  for (let signed = 0; signed < 10; signed += 1) expect(await buy(shop, FAILING)).toMatchObject(REFUSED);
  expect(shop.checks.map(({ cached }) => cached)).toEqual([false, ...Array.from({ length: 9 }, () => true)]);
  expect(before - (await readBalance(kit.db, key.id))).toBe(10);
});

test("a key that buyers have emptied opens nothing, even where unchecked payments are taken", async () => {
  const small = await createTestKey(kit.db, 10);
  const shop = open({ onUnavailable: "allow" }, small.secret);
  expect(await buy(shop, FAILING)).toMatchObject(REFUSED);
  expect(await readBalance(kit.db, small.id)).toBe(0);
  expect(await buy(shop, GOOD)).toMatchObject({
    ...REFUSED,
    error: expect.stringContaining("payer_not_checked: "),
  });
  expect(shop.checks.at(-1)).toMatchObject({
    ...{ allowed: false, reason: "lookup_refused", error: "PaymentRequiredError 402" },
  });
});

test("a shop on Express serves a good payer and refuses a failing one", async () => {
  const { sale, checks } = open();
  const app = express();
  app.use(paymentMiddleware(...gatedSale(sale)));
  app.get("/forecast", (_request, response) => {
    response.json({ forecast: "rain" });
  });
  const listener = app.listen(0, "127.0.0.1");
  kit.onClose(() => void listener.close());
  await once(listener, "listening");
  const shop = { send: fetch, url: `http://127.0.0.1:${(listener.address() as AddressInfo).port}` };
  expect(await buy(shop, GOOD)).toEqual(SERVED);
  expect(await buy(shop, FAILING)).toMatchObject({
    ...REFUSED,
    error: expect.stringContaining("payer_not_trusted"),
  });
  expect(checks.map(({ allowed }) => allowed)).toEqual([true, false]);
});

test("a contract wallet is checked by its own address, and passes where escrows do", async () => {
  const address = kit.chain.contracts.smartWallet;
  const signer: Signer = { address, signTypedData: (data) => payer.signTypedData(data as never) };
  const strict = open();
  expect(await buy(strict, signer)).toMatchObject({
    ...REFUSED,
    error: expect.stringContaining("answers escrow"),
  });
  const lenient = open({ pass: ["instant_settle", "escrow"] });
  expect(await buy(lenient, signer)).toEqual(SERVED);
  expect(lenient.checks).toMatchObject([
    { wallet: address.toLowerCase(), action: "escrow", reason: "not_scored" },
  ]);
});

test("the example sells to a wallet with a good score alone", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "ahs-gate-"));
  kit.onClose(() => rmSync(dataDir, { recursive: true }));
  const up = {
    rpc_url: kit.chain.rpcUrl,
    chain_id: 31_337,
    base_url: server.baseUrl,
    contracts: kit.chain.contracts,
    api_key: key.secret,
    provider: { private_key: GOOD_KEY },
    payer: { private_key: privateKeyOf(payer) },
  };
  writeFileSync(join(dataDir, "up.json"), JSON.stringify(up));
  const file = new URL("../../examples/sell-with-gate.ts", import.meta.url).pathname;
  const example = spawn(process.execPath, [file, "--data-dir", dataDir]);
  let said = "";
  for (const stream of [example.stdout, example.stderr]) {
    stream.on("data", (text) => {
      said += String(text);
    });
  }
  const [status] = await once(example, "close");
  expect(status, said).toBe(0);
  expect(said.match(/^ {2}(?:\d{3} \S+|paid: .*)/gm)).toEqual([
    '  200 {"forecast":"rain"}',
    "  paid: 0.01 USDC",
    "  402 payer_not_trusted:",
    "  paid: 0 USDC",
  ]);
});

test.each([
  ["refuse", { ...REFUSED, error: expect.stringContaining("payer_not_checked: ") }],
  ["allow", SERVED],
] as const)("while the service is down, a seller may %s", async (onUnavailable, outcome) => {
  // A stopped process stays stopped.
  await server.stop();
  const shop = open({ onUnavailable });
  expect(await buy(shop, GOOD)).toEqual(outcome);
  expect(shop.checks).toMatchObject([{ reason: "service_unavailable", error: "UnreachableError" }]);
});
