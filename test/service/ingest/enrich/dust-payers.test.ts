import { type Address, encodeFunctionData, numberToHex } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { localTokenAbi } from "../../../../devnet/abi/local-token.ts";
import { readSnapshot } from "../../../../service/db/index-snapshot.ts";
import { MAX_PAYERS, OTHER_PAYERS } from "../../../../service/ingest/enrich/contact-rows.ts";
import { readMainFunders } from "../../../../service/scores/read/contact-graph.ts";
import { CHAIN_ID, createEnrichWorld, type EnrichWorld, enrichAll, rowsOf } from "./enrich-world.ts";

const SELLER: Address = `0x${"a1".repeat(20)}`;
const NEIGHBOUR: Address = `0x${"b2".repeat(20)}`;
const CUSTOMER: Address = `0x${"c3".repeat(20)}`;
const payer = (number: number): Address => `0x${(0xd00000 + number).toString(16).padStart(40, "0")}`;
const PAYERS = MAX_PAYERS + 100;
/** Of an ether of 2,000 dollars. */
const MICRO_USD_WEI = 5n * 10n ** 8n;
const DUST = 2_000n;
const SPENT = 300_000n;

let world: EnrichWorld;

beforeAll(async () => {
  world = await createEnrichWorld();
  await world.chain.rpc.request("anvil_autoImpersonateAccount", true);
  for (const wallet of [SELLER, NEIGHBOUR]) await world.follow(wallet);
  await payByAllowance();
});
afterAll(() => world.close());

/** The customer carries out a payment of the followed neighbour, which is no call of that. */
async function payByAllowance(): Promise<void> {
  const { chain, mint } = world;
  const { usdc } = chain.contracts;
  await mint(usdc, NEIGHBOUR, 1n);
  const abi = localTokenAbi;
  const approve = encodeFunctionData({ abi, functionName: "approve", args: [CUSTOMER, 1n] });
  await chain.send({ from: NEIGHBOUR, to: usdc, data: approve });
  await chain.rpc.request("anvil_setBalance", CUSTOMER, numberToHex(10n ** 18n));
  const draw = encodeFunctionData({ abi, functionName: "transferFrom", args: [NEIGHBOUR, SELLER, 1n] });
  await chain.send({ from: CUSTOMER, to: usdc, data: draw });
}

type Payment = { readonly from: Address; readonly microUsd: bigint };

/** Pays a wallet in one block, and reads it; returns how many payers were left out. */
async function pay(payments: readonly Payment[], to = SELLER): Promise<number> {
  const { rpc } = world.chain;
  const fees = { gas: numberToHex(21_000n), maxFeePerGas: numberToHex(10n ** 11n) };
  for (const { from, microUsd } of payments) {
    await rpc.request("anvil_setBalance", from, numberToHex(10n ** 18n));
    const value = numberToHex(microUsd * MICRO_USD_WEI);
    await rpc.request("eth_sendTransaction", { from, to, value, ...fees });
  }
  await world.chain.tick();
  await world.index();
  const { metrics } = await enrichAll(world);
  const { values } = await metrics.leftOut.get();
  return values.find(({ labels }) => labels.what === "payer")?.value ?? 0;
}

async function received(by = SELLER): Promise<ReadonlyMap<unknown, bigint>> {
  const rows = (await rowsOf(world, "contact")).filter(({ counterparty }) => counterparty === by);
  return new Map(rows.map(({ account, sent_micro_usd }) => [account, BigInt(String(sent_micro_usd))]));
}
const sum = (sent: ReadonlyMap<unknown, bigint>) => [...sent.values()].reduce((all, one) => all + one, 0n);

test("dust from any number of accounts leaves a bounded number of contacts, and neither a customer's nor a followed wallet's is among what is dropped", async () => {
  await pay([{ from: CUSTOMER, microUsd: SPENT }]);
  const dust = Array.from({ length: PAYERS }, (_, number) => ({ from: payer(number), microUsd: DUST }));
  const leftOut = await pay(dust);
  const sent = await received();
  expect(sent.size).toBe(MAX_PAYERS + 2);
  expect(sent.get(CUSTOMER)).toBe(SPENT);
  expect(sent.get(NEIGHBOUR)).toBe(1n);
  expect(sent.get(OTHER_PAYERS)).toBe(101n * DUST);
  expect(sum(sent)).toBe(SPENT + 1n + BigInt(PAYERS) * DUST);
  expect(leftOut).toBe(101);
});

test("who sent less than half of all that a wallet received is not its main funder, although fewer are known", async () => {
  await pay([{ from: CUSTOMER, microUsd: SPENT }]);
  expect(2n * SPENT).toBeGreaterThan(BigInt(MAX_PAYERS - 1) * DUST);
  const funders = await readSnapshot(world.db, (client) => readMainFunders(client, CHAIN_ID, [SELLER]));
  expect(funders).toEqual(new Map());
});

test("a payer that was dropped is known again once it sends more than others did", async () => {
  const before = await received();
  const dropped = Array.from({ length: PAYERS }, (_, number) => payer(number)).find(
    (one) => !before.has(one),
  );
  expect(dropped).toBeDefined();
  const leftOut = await pay([{ from: dropped as Address, microUsd: DUST + 1n }]);
  const after = await received();
  expect(after.get(dropped)).toBe(DUST + 1n);
  expect(after.size).toBe(before.size);
  expect(sum(after)).toBe(sum(before) + DUST + 1n);
  expect(leftOut).toBe(1);
});

test("more payers than one statement drops go with the next payment", async () => {
  await world.client.query(
    `insert into ahs.contact select ${CHAIN_ID}, $1, '0x' || lpad(to_hex(n), 40, 'b'), 0, 1, 1, 1, 1, 1
     from generate_series(65536, 65536 + 44999) n`,
    [NEIGHBOUR],
  );
  const leftOut = await pay([{ from: CUSTOMER, microUsd: 5n }], NEIGHBOUR);
  const sent = await received(NEIGHBOUR);
  expect([sent.size, sent.get(CUSTOMER), sum(sent)]).toEqual([MAX_PAYERS + 1, 5n, 45_005n]);
  expect(leftOut).toBe(45_001 - MAX_PAYERS);
});
