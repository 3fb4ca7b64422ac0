import { type Address, encodeFunctionData, type Hex, numberToHex, pad, toHex } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import bytecodes from "../../../../contracts/bytecode.json" with { type: "json" };
import { entryPointAbi } from "../../../../devnet/abi/entry-point.ts";
import { localTokenAbi } from "../../../../devnet/abi/local-token.ts";
import { safeAccountAbi } from "../../../../devnet/abi/safe-account.ts";
import { smartWalletAbi } from "../../../../devnet/abi/smart-wallet.ts";
import type { Deployment } from "../../../../service/chain/deployments.ts";
import type { ChainReader } from "../../../../service/chain/node/chain-reader.ts";
import { NodeFailure } from "../../../../service/chain/node/failure.ts";
import { USER_OPERATION } from "../../../../service/chain/node/rpc-answers.ts";
import { formatCall } from "../../../../service/model/features/call-line.ts";
import { readOwnCalls, scanBlocks } from "../../../../service/scores/verify/read-own-calls.ts";
import { contextOf, createEnrichWorld, deploy, type EnrichWorld, enrichAll, rowsOf } from "./enrich-world.ts";
import { logCall, placeLogEmitter } from "./log-emitter.ts";

const BUNDLER: Address = `0x${"b0".repeat(20)}`;
const OWNER: Address = `0x${"0a".repeat(20)}`;
const PAYEE: Address = `0x${"fe".repeat(20)}`;
const FORGER: Address = `0x${"ee".repeat(20)}`;
const CALL_GAS = 200_000n;
const FIXED_GAS = 21_000n;

let world: EnrichWorld;
let deployment: Deployment;
let entryPoint: Address;
let account: Address;
let other: Address;
let safe: Address;
let nonce = 0n;

beforeAll(async () => {
  world = await createEnrichWorld();
  const { usdc } = world.chain.contracts;
  entryPoint = await deploy(world, { abi: entryPointAbi, bytecode: bytecodes.EntryPoint, args: [] });
  const wallet = { abi: smartWalletAbi, bytecode: bytecodes.SmartWallet, args: [entryPoint] };
  account = await deploy(world, wallet);
  other = await deploy(world, wallet);
  safe = await deploy(world, { abi: safeAccountAbi, bytecode: bytecodes.SafeAccount, args: [OWNER] });
  for (const sender of [BUNDLER, OWNER])
    await world.chain.rpc.request("anvil_setBalance", sender, numberToHex(10n ** 20n));
  for (const followed of [account, safe]) {
    await world.follow(followed);
    await world.mint(usdc, followed, 1_000n);
  }
  await world.mint(usdc, other, 1_000n);
  await placeLogEmitter(world.chain, FORGER);
  const { accounts } = world.chain.deployment;
  deployment = { ...world.chain.deployment, accounts: { ...accounts, entryPoints: [entryPoint] } };
});
afterAll(() => world.close());

const payment = (amount: bigint) =>
  encodeFunctionData({ abi: localTokenAbi, functionName: "transfer", args: [PAYEE, amount] });

function operation(sender: Address, itsNonce: bigint, data: Hex) {
  const { usdc } = world.chain.contracts;
  return {
    sender,
    nonce: itsNonce,
    initCode: "0x" as Hex,
    callData: encodeFunctionData({ abi: smartWalletAbi, functionName: "execute", args: [usdc, 0n, data] }),
    accountGasLimits: toHex(CALL_GAS, { size: 32 }),
    preVerificationGas: FIXED_GAS,
    gasFees: toHex(0n, { size: 32 }),
    paymasterAndData: "0x" as Hex,
    signature: "0x" as Hex,
  };
}

function bundle(operations: readonly ReturnType<typeof operation>[]) {
  const data = encodeFunctionData({
    abi: entryPointAbi,
    functionName: "handleOps",
    args: [operations, BUNDLER],
  });
  return world.chain.send({ from: BUNDLER, to: entryPoint, data, gas: 2_000_000n });
}

async function callsOf(hash: Hex): Promise<readonly Record<string, unknown>[]> {
  await world.index();
  await enrichAll(world, { deployment });
  return (await rowsOf(world, "own_call")).filter((row) => row.hash === hash);
}

const lower = (address: Address) => address.toLowerCase();

describe("an ERC-4337 account", () => {
  test("has its own executions in a stranger's bundle, with the gas, the logs and the moves of those alone", async () => {
    const { usdc } = world.chain.contracts;
    const strangers = operation(other, 0n, payment(7n));
    const own = operation(account, nonce++, payment(30n));
    const { hash, status } = await bundle([strangers, own]);
    expect(status).toBe("success");
    const [row, ...more] = await callsOf(hash);
    expect(more).toEqual([]);
    const [logged] = (await rowsOf(world, "enrich_user_operation")).filter(
      (one) => one.transaction_hash === hash,
    );
    expect(row).toMatchObject({
      wallet: account,
      origin: "erc4337",
      position: Number(logged?.log_index) + 1,
      to: lower(usdc),
      selector: "0xa9059cbb",
      value: "0",
      ok: true,
      recipient: PAYEE,
      amount: "30",
      gas_limit: String(CALL_GAS + FIXED_GAS),
      gas_used: logged?.actual_gas_used,
      fee_wei: logged?.actual_gas_cost_wei,
      l1_fee_wei: null,
      effect: "transfer",
      emitters: [lower(usdc)],
      moves: [`${lower(usdc)}:-30`],
    });
    expect(Number(row?.market_price_wei)).toBeGreaterThan(0);
  });

  test("whose operation fails has a failed call without effect", async () => {
    const { hash, status } = await bundle([operation(account, nonce++, payment(10_000n))]);
    expect(status).toBe("success");
    expect(await callsOf(hash)).toMatchObject([
      {
        origin: "erc4337",
        ok: false,
        recipient: PAYEE,
        amount: "10000",
        effect: "none",
        emitters: [],
        moves: [],
      },
    ]);
  });

  test("has two calls for two operations in one transaction, each with its own logs", async () => {
    const operations = [operation(account, nonce++, payment(1n)), operation(account, nonce++, payment(2n))];
    const { hash } = await bundle(operations);
    const { usdc } = world.chain.contracts;
    expect(await callsOf(hash)).toMatchObject([
      { amount: "1", moves: [`${lower(usdc)}:-1`] },
      { amount: "2", moves: [`${lower(usdc)}:-2`] },
    ]);
  });

  test("gets no calls from a contract that is no entry point", async () => {
    const data: Hex = `0x${[4n, 1n, 10n ** 15n, 90_000n].map((value) => toHex(value, { size: 32 }).slice(2)).join("")}`;
    const topics: [Hex, Hex, Hex, Hex] = [USER_OPERATION, toHex(1n, { size: 32 }), pad(account), pad(PAYEE)];
    const { hash } = await world.chain.send({ from: BUNDLER, to: FORGER, data: logCall(topics, data) });
    expect(await callsOf(hash)).toEqual([]);
    const logged = await rowsOf(world, "enrich_user_operation");
    expect(logged.filter((row) => row.transaction_hash === hash)).toEqual([]);
  });
});

describe("a Safe", () => {
  const execute = (to: Address, data: Hex) =>
    world.chain.send({
      from: OWNER,
      to: safe,
      data: encodeFunctionData({
        abi: safeAccountAbi,
        functionName: "execTransaction",
        args: [to, 0n, data, 0, 0n, 0n, 0n, PAYEE, PAYEE, "0x"],
      }),
    });

  test("has its executions as calls, the failed ones too", async () => {
    const { usdc } = world.chain.contracts;
    const paid = await execute(usdc, payment(3n));
    const failed = await execute(usdc, payment(10_000n));
    expect(failed.status).toBe("success");
    const common = { wallet: safe, origin: "safe", to: lower(usdc), recipient: PAYEE, gas_limit: "500000" };
    expect(await callsOf(paid.hash)).toMatchObject([
      { ...common, ok: true, amount: "3", effect: "transfer", moves: [`${lower(usdc)}:-3`] },
    ]);
    expect(await callsOf(failed.hash)).toMatchObject([{ ...common, ok: false, effect: "none", moves: [] }]);
  });
});

describe("native coin that calldata of an account sends", () => {
  const ETHER = 10n ** 18n;
  const paying = (amount: bigint) => ({
    ...operation(account, nonce++, "0x"),
    callData: encodeFunctionData({
      abi: smartWalletAbi,
      functionName: "execute",
      args: [PAYEE, amount, "0x"],
    }),
  });
  const movedIn = async (hash: Hex) =>
    (await rowsOf(world, "enrich_transfer"))
      .filter((row) => row.transaction_hash === hash)
      .map(({ standard, from, to, amount, sender }) => ({ standard, from, to, amount, sender }));
  beforeAll(() => world.chain.rpc.request("anvil_setBalance", account, numberToHex(2n * ETHER)));

  test("counts as far as the trace shows it, each operation of a bundle by itself", async () => {
    const { hash, status } = await bundle([paying(ETHER), paying(ETHER), paying(ETHER)]);
    expect(status).toBe("success");
    const paid = { to: PAYEE, value: String(ETHER), ok: true, recipient: null, effect: "none" };
    expect(await callsOf(hash)).toMatchObject([paid, paid, { to: PAYEE, value: null, ok: false }]);
    const moved = { standard: "native", from: account, to: PAYEE, amount: String(ETHER), sender: account };
    expect(await movedIn(hash)).toEqual([moved, moved]);
  });

  test("of a Safe counts alike", async () => {
    const { hash } = await world.chain.send({
      from: OWNER,
      to: safe,
      data: encodeFunctionData({
        abi: safeAccountAbi,
        functionName: "execTransaction",
        args: [PAYEE, ETHER, "0x", 0, 0n, 0n, 0n, PAYEE, PAYEE, "0x"],
      }),
    });
    expect(await callsOf(hash)).toMatchObject([{ wallet: safe, to: PAYEE, value: String(ETHER) }]);
    expect(await movedIn(hash)).toMatchObject([{ from: safe, amount: String(ETHER) }]);
  });

  test("is found again by the verifier, and left unknown where the service had no trace", async () => {
    const stored = (await rowsOf(world, "own_call")).filter((row) => row.wallet === account);
    const asOf = { blockNumber: await world.chain.head(), blockHash: "0x", timestamp: 0 } as const;
    const traced: Hex[] = [];
    const { client } = contextOf(world, (real) => ({
      ...real,
      trace: (hash) => {
        traced.push(hash);
        return real.trace(hash);
      },
    }));
    const linesOf = async (isUntraced: (place: { blockNumber: number }) => boolean) => {
      const { weth } = world.chain.contracts;
      const wallet = { wallet: account, asOf, fromBlock: 1, fromTimestamp: 0, isUntraced };
      const chain = {
        entryPoints: new Set([entryPoint]),
        wrappedNative: lower(weth) as Address,
        tokens: new Set<Address>(),
        rule: { everyBlocks: 1, blocks: 1 },
      };
      const calls = await readOwnCalls(client, scanBlocks(client), { ...wallet, ...chain });
      return calls.map(formatCall).sort();
    };
    expect(await linesOf(() => false)).toEqual(stored.map(({ line }) => line).sort());
    expect(traced).toHaveLength(1);
    const unknown = stored.map(({ line, value, ok }) =>
      ok === true && value !== "0" ? String(line).replace(` ${ETHER} 1 `, " - 1 ") : line,
    );
    expect(await linesOf(() => true)).toEqual(unknown.sort());
    expect(traced).toHaveLength(1);
  });

  test("is unknown where the node gives no trace, which holds up nothing", async () => {
    const failures = [
      new NodeFailure("method_missing", "debug_traceTransaction"),
      new NodeFailure("too_many_results", "16 MiB"),
      new NodeFailure("timeout", "15 s"),
      new NodeFailure("refused", "no history"),
    ];
    for (const failure of failures) {
      await world.chain.rpc.request("anvil_setBalance", account, numberToHex(ETHER));
      const { hash } = await bundle([paying(1n), operation(account, nonce++, payment(1n))]);
      await world.index();
      const trace = () => Promise.reject(failure);
      await enrichAll(world, { deployment, wrap: (real) => ({ ...real, trace }) });
      expect(await callsOf(hash)).toMatchObject([
        { to: PAYEE, value: null },
        { value: "0", amount: "1" },
      ]);
      expect(await movedIn(hash)).toHaveLength(1);
    }
  });
});

test("contacts of an account are those that its executions' logs show", async () => {
  const contacts = (await rowsOf(world, "contact")).filter((row) => row.counterparty === PAYEE);
  const calls = (wallet: Address) => contacts.find((row) => row.account === wallet)?.calls;
  expect([calls(account), calls(safe)]).toEqual([9, 2]);
});

test("a node that has the receipt of a bundle and not the bundle gives nothing", async () => {
  await bundle([operation(account, nonce++, payment(1n))]);
  await world.index();
  const before = await rowsOf(world, "enrich_cursor");
  const wrap = (real: ChainReader): ChainReader => ({ ...real, transaction: async () => null });
  await expect(enrichAll(world, { deployment, wrap })).rejects.toMatchObject({ kind: "inconsistent" });
  expect(await rowsOf(world, "enrich_cursor")).toEqual(before);
});
