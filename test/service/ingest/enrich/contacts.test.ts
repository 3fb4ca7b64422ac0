import { type Address, encodeFunctionData, type Hex, numberToHex, toHex } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { localTokenAbi } from "../../../../devnet/abi/local-token.ts";
import { createEnrichWorld, type EnrichWorld, enrichAll, rowsOf } from "./enrich-world.ts";
import { logCall, placeLogEmitter } from "./log-emitter.ts";

const WALLET: Address = `0x${"a1".repeat(20)}`;
const OTHER: Address = `0x${"b2".repeat(20)}`;
const PAYEE: Address = `0x${"fe".repeat(20)}`;
const OUTSIDE: Address = `0x${"ee".repeat(20)}`;
const [STRANGER, SECOND, SENDER] = ["c3", "d4", "e5"].map((byte): Address => `0x${byte.repeat(20)}`) as [
  Address,
  Address,
  Address,
];
const ETHER = 10n ** 18n;
/** Prices of an ether and a dollar by the local feeds, in millionths of a dollar. */
const ETHER_MICRO_USD = 2_000_000_000n;
const MICRO_USD = 1n;

let world: EnrichWorld;

beforeAll(async () => {
  world = await createEnrichWorld();
  for (const account of [STRANGER, SECOND, SENDER])
    await world.chain.rpc.request("anvil_setBalance", account, numberToHex(10n ** 20n));
  await placeLogEmitter(world.chain, OUTSIDE);
  await world.follow(WALLET);
  await world.follow(OTHER);
  for (const account of [WALLET, STRANGER, SECOND])
    await world.mint(world.chain.contracts.usdc, account, 1_000n);
});
afterAll(() => world.close());

const lower = (address: Address) => address.toLowerCase();

function pay(from: Address, amount: bigint, to = PAYEE) {
  const data = encodeFunctionData({ abi: localTokenAbi, functionName: "transfer", args: [to, amount] });
  return world.chain.send({ from, to: world.chain.contracts.usdc, data });
}

/** Mines one block with a transaction of each, in their order. */
async function mineTogether(sent: readonly { from: Address; to: Address; data?: Hex; value?: bigint }[]) {
  const { rpc } = world.chain;
  for (const [index, { value, ...call }] of sent.entries()) {
    await rpc.request("anvil_impersonateAccount", call.from);
    const tip = BigInt(sent.length - index) * 10n ** 9n;
    const fees = { maxFeePerGas: numberToHex(10n ** 11n), maxPriorityFeePerGas: numberToHex(tip) };
    const given = { ...call, ...fees, gas: numberToHex(200_000n), value: numberToHex(value ?? 0n) };
    await rpc.request("eth_sendTransaction", given);
  }
  await world.chain.tick();
}

async function contactsWith(counterparty: Address): Promise<readonly Record<string, unknown>[]> {
  await world.index();
  await enrichAll(world);
  const rows = (await rowsOf(world, "contact")).filter((row) => row.counterparty === lower(counterparty));
  return rows.map(({ account, calls, sent_micro_usd }) => ({ account, calls, sent: sent_micro_usd }));
}

const payCall = (amount: bigint) => ({
  to: world.chain.contracts.usdc,
  data: encodeFunctionData({ abi: localTokenAbi, functionName: "transfer", args: [PAYEE, amount] }),
});

describe("followed wallets", () => {
  test("deal with whom they pay, not with the token, and what they sent is known in dollars", async () => {
    await pay(WALLET, 5n);
    const { blockNumber } = await pay(WALLET, 100_000n);
    expect(await contactsWith(PAYEE)).toEqual([{ account: WALLET, calls: 2, sent: String(5n * MICRO_USD) }]);
    const [row] = (await rowsOf(world, "contact")).filter((contact) => contact.counterparty === PAYEE);
    expect(row?.last_block).toBe(String(blockNumber));
    expect(await contactsWith(world.chain.contracts.usdc)).toEqual([]);
  });

  test("send and are sent native coin", async () => {
    await world.chain.send({ from: WALLET, to: PAYEE, value: ETHER / 2n });
    await world.chain.send({ from: SENDER, to: WALLET, value: ETHER });
    await world.chain.send({ from: OTHER, to: WALLET, value: ETHER });
    expect(await contactsWith(PAYEE)).toMatchObject([{ calls: 3, sent: String(ETHER_MICRO_USD / 2n + 5n) }]);
    expect(await contactsWith(WALLET)).toEqual([
      { account: OTHER, calls: 1, sent: String(ETHER_MICRO_USD) },
      { account: SENDER, calls: 0, sent: String(ETHER_MICRO_USD) },
    ]);
  });

  test("are sent tokens by strangers, of which only those with a price count", async () => {
    await pay(STRANGER, 9n, OTHER);
    const data = encodeFunctionData({ abi: localTokenAbi, functionName: "approve", args: [OTHER, 1n] });
    await world.chain.send({ from: STRANGER, to: world.chain.contracts.usdc, data });
    expect(await contactsWith(OTHER)).toEqual([{ account: STRANGER, calls: 0, sent: "9" }]);
  });

  test("deal through their own contracts with those that log behind them", async () => {
    const { rpc } = world.chain;
    await rpc.request("anvil_impersonateAccount", WALLET);
    const fees = { gas: numberToHex(300_000n), maxFeePerGas: numberToHex(10n ** 11n) };
    const created = await rpc.request("eth_sendTransaction", {
      from: WALLET,
      data: forwarderCreation(OUTSIDE),
      ...fees,
    });
    await world.chain.tick();
    const receipt = (await rpc.request("eth_getTransactionReceipt", created)) as { contractAddress: Address };
    const own = lower(receipt.contractAddress) as Address;
    const words = [1n, 2n, 3n, 4n].map((value) => toHex(value, { size: 32 })) as [Hex, Hex, Hex, Hex];
    const { status } = await world.chain.send({ from: WALLET, to: own, data: logCall(words, "0x") });
    expect(status).toBe("success");
    await world.chain.send({ from: OTHER, to: own, data: logCall(words, "0x") });
    expect(await contactsWith(OUTSIDE)).toEqual([{ account: WALLET, calls: 1, sent: "0" }]);
    expect(await contactsWith(own)).toMatchObject([{ account: WALLET }, { account: OTHER }]);
    const [fact] = (await rowsOf(world, "account_fact")).filter((row) => row.address === own);
    expect(fact).toMatchObject({ has_code: true, creator: WALLET, source: "index" });
  });
});

describe("sampled blocks", () => {
  const calledBy = async (account: Address, table: "contact" | "sampled_contact") =>
    new Map(
      (await rowsOf(world, table))
        .filter((row) => row.account === account && Number(row.calls) > 0)
        .map((row) => [row.counterparty, row.calls]),
    );

  test("show the calls of all accounts to any account, apart from the contacts of followed wallets", async () => {
    await mineTogether([
      { from: WALLET, ...payCall(1n) },
      { from: STRANGER, ...payCall(1n) },
      { from: STRANGER, to: SENDER, value: 1n },
      { from: SECOND, to: SENDER, value: 1n },
    ]);
    expect(await contactsWith(PAYEE)).toMatchObject([{ account: WALLET, calls: 4 }]);
    const usdc = lower(world.chain.contracts.usdc);
    expect(await calledBy(STRANGER, "sampled_contact")).toEqual(
      new Map([
        [OTHER, 1],
        [usdc, 1],
        [PAYEE, 1],
        [SENDER, 1],
      ]),
    );
    expect(await calledBy(SECOND, "sampled_contact")).toEqual(new Map([[SENDER, 1]]));
    expect(await calledBy(STRANGER, "contact")).toEqual(new Map());
  });

  test("count a call once, however often its block is read", async () => {
    const [contacts, sampled] = [await rowsOf(world, "contact"), await rowsOf(world, "sampled_contact")];
    const { rows } = await world.client.query(
      "delete from chain_31337.wallet where address = $1 returning *",
      [WALLET],
    );
    await world.index();
    await enrichAll(world);
    await world.client.query(
      "insert into chain_31337.wallet select * from json_populate_record(null::chain_31337.wallet, $1)",
      [JSON.stringify(rows[0])],
    );
    await enrichAll(world);
    expect(await rowsOf(world, "contact")).toEqual(contacts);
    expect(await rowsOf(world, "sampled_contact")).toEqual(sampled);
  });

  test("stay what they are when an account is followed, whose contacts come from its own calls", async () => {
    const sampled = await rowsOf(world, "sampled_contact");
    await world.followSince(STRANGER, 1);
    await world.index();
    await enrichAll(world);
    expect(await rowsOf(world, "sampled_contact")).toEqual(sampled);
    expect(await calledBy(STRANGER, "contact")).toEqual(await calledBy(STRANGER, "sampled_contact"));
  });
});

/** Creation code of a contract that calls another with whatever it is called with. */
function forwarderCreation(target: Address): Hex {
  const code = `365f5f375f5f365f5f73${target.slice(2)}5af100`;
  const size = (code.length / 2).toString(16).padStart(2, "0");
  return `0x60${size}600c60003960${size}6000f3${code}`;
}
