import { type Address, encodeFunctionData, type Hex, numberToHex, pad, toHex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import bytecodes from "../../../../contracts/bytecode.json" with { type: "json" };
import { entryPointAbi } from "../../../../devnet/abi/entry-point.ts";
import { smartWalletAbi } from "../../../../devnet/abi/smart-wallet.ts";
import { usdCoinAbi } from "../../../../service/chain/abi/usd-coin.ts";
import { AUTHORIZATION_USED } from "../../../../service/chain/node/rpc-answers.ts";
import { signPayment } from "../../../support/signed-payment.ts";
import {
  allRows,
  createEnrichWorld,
  deploy,
  type EnrichWorld,
  enrichAll,
  forgetAll,
  rowsOf,
} from "./enrich-world.ts";
import { logCall, placeLogEmitter } from "./log-emitter.ts";

const payer = privateKeyToAccount(`0x${"11".repeat(32)}`);
const stranger = privateKeyToAccount(`0x${"22".repeat(32)}`);
const PAYER = lower(payer.address);
const STRANGER = lower(stranger.address);
const FACILITATOR: Address = `0x${"fa".repeat(20)}`;
const PAYEE: Address = `0x${"fe".repeat(20)}`;
const FORGER: Address = `0x${"ee".repeat(20)}`;
const CENT = 10_000n;

let world: EnrichWorld;
let usdc: Address;
let entryPoint: Address;
let batcher: Address;
let nonce = 0;

beforeAll(async () => {
  world = await createEnrichWorld();
  usdc = lower(world.chain.contracts.usdc);
  entryPoint = await deploy(world, { abi: entryPointAbi, bytecode: bytecodes.EntryPoint, args: [] });
  const args = [entryPoint];
  batcher = await deploy(world, { abi: smartWalletAbi, bytecode: bytecodes.SmartWallet, args });
  await placeLogEmitter(world.chain, FORGER);
  await world.follow(FACILITATOR);
  // The payer is followed, and has neither coin nor a transaction.
  await world.followSince(PAYER, (await world.chain.head()) + 1);
  for (const account of [PAYER, STRANGER]) await world.mint(usdc, account, 10_000_000n);
});
afterAll(() => world.close());

function lower(address: Address): Address {
  return address.toLowerCase() as Address;
}

function sign(
  account = payer,
  options: { to?: Address; amount?: bigint; byPayee?: boolean } = {},
): Promise<Hex> {
  nonce += 1;
  return signPayment(usdc, account, { to: PAYEE, amount: CENT, nonce, ...options });
}

const settle = async (data: Hex, from = FACILITATOR) => world.chain.send({ from, to: usdc, data });

/** Carries out several calls of the token in one transaction. */
function settleTogether(calls: readonly Hex[]) {
  const operations = calls.map((data, place) => ({
    ...{ sender: batcher, nonce: BigInt(place), initCode: "0x" as Hex },
    callData: encodeFunctionData({ abi: smartWalletAbi, functionName: "execute", args: [usdc, 0n, data] }),
    ...{ accountGasLimits: toHex(300_000n, { size: 32 }), preVerificationGas: 21_000n },
    ...{ gasFees: toHex(0n, { size: 32 }), paymasterAndData: "0x" as Hex, signature: "0x" as Hex },
  }));
  const data = encodeFunctionData({
    abi: entryPointAbi,
    functionName: "handleOps",
    args: [operations, FACILITATOR],
  });
  return world.chain.send({ from: FACILITATOR, to: entryPoint, data, gas: 3_000_000n });
}

async function callsOf(hash: Hex): Promise<readonly Record<string, unknown>[]> {
  await world.index();
  await enrichAll(world);
  return (await rowsOf(world, "own_call")).filter((row) => row.hash === hash);
}

/** Accounts that called it, by their contacts or as sampled blocks show them. */
async function usersOf(counterparty: Address, table: "contact" | "sampled_contact" = "contact") {
  const rows = await rowsOf(world, table);
  return rows
    .filter((row) => row.counterparty === counterparty)
    .map(({ account, calls }) => [account, calls] as const);
}

test("a payment by signature is a call of who signed it, and the transaction one of the facilitator to the token", async () => {
  const { hash, status } = await settle(await sign());
  expect(status).toBe("success");
  const calls = await callsOf(hash);
  expect(calls).toMatchObject(
    [
      {
        ...{
          wallet: PAYER,
          origin: "authorization",
          to: usdc,
          selector: "0xe3ee160e",
          ok: true,
          position: 1,
        },
        ...{ value: "0", recipient: PAYEE, amount: String(CENT), effect: "transfer", logs: 2 },
        ...{ gas_limit: "0", gas_used: "0", gas_price_wei: "0", fee_wei: "0", l1_fee_wei: null },
        ...{ market_price_wei: null, emitters: [usdc], moves: [`${usdc}:-${CENT}`] },
      },
      { wallet: FACILITATOR, origin: "transaction", position: 0, to: usdc, recipient: null, ok: true },
    ].toSorted((a, b) => (a.wallet < b.wallet ? -1 : 1)),
  );
  expect(await usersOf(PAYEE)).toEqual([[PAYER, 1]]);
  expect(await usersOf(usdc)).toEqual([[FACILITATOR, 1]]);
});

test("many in one transaction are calls of each who signed; of strangers too the payee has a user", async () => {
  const { hash, status } = await settleTogether([
    await sign(),
    await sign(stranger),
    await sign(payer, { amount: 3n * CENT }),
  ]);
  expect(status).toBe("success");
  const calls = (await callsOf(hash)).filter(({ origin }) => origin === "authorization");
  expect(calls.map(({ wallet, amount }) => [wallet, amount])).toEqual([
    [PAYER, String(CENT)],
    [PAYER, String(3n * CENT)],
  ]);
  expect(await usersOf(PAYEE)).toEqual([[PAYER, 3]]);
  expect(new Map(await usersOf(PAYEE, "sampled_contact"))).toEqual(
    new Map([
      [PAYER, 3],
      [STRANGER, 1],
    ]),
  );
});

test("the payee's own claim of a signed payment is the payer's call as well", async () => {
  const data = await sign(payer, { to: FACILITATOR, byPayee: true });
  const { hash } = await settle(data);
  expect((await callsOf(hash)).find(({ wallet }) => wallet === PAYER)).toMatchObject({
    ...{ origin: "authorization", recipient: FACILITATOR, amount: String(CENT) },
  });
});

test("a revert, a cancellation and the log of another contract are no calls", async () => {
  const data = await sign();
  await settle(data);
  const again = await settle(data);
  expect(again.status).toBe("reverted");
  nonce += 1;
  const number = numberToHex(nonce, { size: 32 });
  const signature = await payer.signTypedData({
    domain: { name: "USD Coin", version: "2", chainId: 31_337, verifyingContract: usdc },
    types: {
      CancelAuthorization: [
        { name: "authorizer", type: "address" },
        { name: "nonce", type: "bytes32" },
      ],
    },
    primaryType: "CancelAuthorization",
    message: { authorizer: payer.address, nonce: number },
  });
  const cancel = [payer.address, number, signature] as const;
  const canceled = await settle(
    encodeFunctionData({ abi: usdCoinAbi, functionName: "cancelAuthorization", args: cancel }),
  );
  expect(canceled.status).toBe("success");
  const topics: [Hex, Hex, Hex, Hex] = [AUTHORIZATION_USED, pad(PAYER), number, pad(PAYEE)];
  const forged = await world.chain.send({ from: FACILITATOR, to: FORGER, data: logCall(topics, "0x") });
  for (const { hash } of [again, canceled, forged])
    expect((await callsOf(hash)).map(({ wallet }) => wallet)).toEqual([FACILITATOR]);
});

test("a payment that a wallet signs and sends itself is one call, which pays its payee", async () => {
  const spender = privateKeyToAccount(`0x${"33".repeat(32)}`);
  const wallet = lower(spender.address);
  await world.follow(wallet);
  await world.mint(usdc, wallet, CENT);
  const { hash } = await settle(await sign(spender), wallet);
  expect(await callsOf(hash)).toMatchObject([
    { wallet, origin: "transaction", recipient: PAYEE, amount: String(CENT), effect: "transfer" },
  ]);
  expect((await usersOf(PAYEE)).find(([account]) => account === wallet)).toEqual([wallet, 1]);
});

test("every row is the same when small ranges read the chain again", async () => {
  const whole = await allRows(world);
  await forgetAll(world);
  await enrichAll(world, { limits: { maxBlocks: 1, maxWallets: 1 } });
  expect(await allRows(world)).toEqual(whole);
});
