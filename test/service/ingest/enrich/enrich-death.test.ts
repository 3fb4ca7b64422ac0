import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { type Address, concatHex, encodeFunctionData, type Hex, numberToHex } from "viem";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import bytecodes from "../../../../contracts/bytecode.json" with { type: "json" };
import { entryPointAbi } from "../../../../devnet/abi/entry-point.ts";
import { smartWalletAbi } from "../../../../devnet/abi/smart-wallet.ts";
import { writeDeployment } from "../../../../service/chain/deployments.ts";
import {
  noteReading,
  noteTransaction,
  takeOverReadings,
} from "../../../../service/ingest/enrich/crash-watch.ts";
import {
  CHAIN_ID,
  createEnrichWorld,
  deploy,
  type EnrichWorld,
  enrichAll,
  forgetAll,
  placedRows,
  rowsOf,
} from "./enrich-world.ts";

const BUNDLER: Address = `0x${"b0".repeat(20)}`;
const WALLET: Address = `0x${"a1".repeat(20)}`;
const child = new URL("./enrich-death-child.ts", import.meta.url).pathname;

let world: EnrichWorld;
let folder: string;
let deploymentFile: string;
let entryPoint: Address;
let account: Address;
let nonce = 0n;
/** Transactions of one bundle each. */
let bundles: readonly Hex[];

beforeAll(async () => {
  world = await createEnrichWorld();
  folder = await mkdtemp(join(tmpdir(), "enrich-death-"));
  deploymentFile = join(folder, "deployment.json");
  entryPoint = await deploy(world, { abi: entryPointAbi, bytecode: bytecodes.EntryPoint, args: [] });
  account = await deploy(world, { abi: smartWalletAbi, bytecode: bytecodes.SmartWallet, args: [entryPoint] });
  const { deployment } = world.chain;
  const accounts = { ...deployment.accounts, entryPoints: [entryPoint] };
  writeDeployment(deploymentFile, { ...deployment, accounts });
  await world.chain.rpc.request("anvil_setBalance", BUNDLER, numberToHex(10n ** 20n));
  for (const followed of [account, WALLET]) await world.follow(followed);
  await world.chain.succeed(WALLET);
  bundles = [await bundle(bomb(1_300)), await bundle(bomb(3_000)), await bundle("0x")];
  await world.chain.succeed(WALLET);
  await world.index();
});
afterAll(async () => {
  await world.close();
  await rm(folder, { recursive: true });
});

beforeEach(() => forgetAll(world));

const word = (value: number): Hex => numberToHex(value, { size: 32 });

/** executeBatch(address[],bytes[]), each of whose calls is a pointer into their list and the length of another. */
function bomb(calls: number): Hex {
  const list = concatHex([word(calls), ...Array<Hex>(calls).fill(word(16 * calls))]);
  return concatHex(["0x18dfb3c7", word(64), word(128), word(1), word(1), list]);
}

async function bundle(callData: Hex): Promise<Hex> {
  const operation = {
    ...{ sender: account, nonce, callData, preVerificationGas: 21_000n },
    accountGasLimits: numberToHex(200_000n, { size: 32 }),
    gasFees: word(0),
    initCode: "0x" as Hex,
    paymasterAndData: "0x" as Hex,
    signature: "0x" as Hex,
  };
  nonce += 1n;
  const data = encodeFunctionData({
    abi: entryPointAbi,
    functionName: "handleOps",
    args: [[operation], BUNDLER],
  });
  const { hash, status } = await world.chain.send({ from: BUNDLER, to: entryPoint, data, gas: 8_000_000n });
  expect(status).toBe("success");
  return hash;
}

/** Runs a process that enriches until nothing is left; what it printed, or null where it died. */
async function enrichInChild(fatal: Hex | "none", heapMb = 200): Promise<string | null> {
  const args = [
    `--max-old-space-size=${heapMb}`,
    child,
    world.databaseUrl,
    world.chain.rpcUrl,
    deploymentFile,
    fatal,
  ];
  const process_ = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "ignore"] });
  const [printed, [code, signal]] = await Promise.all([text(process_.stdout), once(process_, "exit")]);
  if (code === 0) return printed;
  expect(signal ?? code).toBe("SIGABRT");
  return null;
}

test("an operation whose pointers all lead to one another is read in little memory, as a call that is not known", async () => {
  expect(await enrichInChild("none", 600)).toBe("[]");
  const rows = await rowsOf(world, "own_call");
  for (const hash of bundles.slice(0, 2))
    expect(rows.find((row) => row.hash === hash)).toMatchObject({
      wallet: account,
      origin: "erc4337",
      to: null,
    });
});

test("a transaction that ended two processes is left out for good, counted, and nothing else with it", async () => {
  const [fatal = "0x"] = bundles;
  await enrichInChild("none");
  const whole = await placedRows(world);
  await forgetAll(world);
  const lives: (string | null)[] = [];
  for (let life = 0; life < 4; life += 1) lives.push(await enrichInChild(fatal));
  // The first death identifies the range, the next two the transaction.
  expect(lives).toEqual([null, null, null, `["transaction"]`]);
  const isElsewhere = (row: unknown) =>
    ![Reflect.get(Object(row), "hash"), Reflect.get(Object(row), "transaction_hash")].includes(fatal);
  const others = Object.entries(whole).map(([table, rows]) => [
    table,
    // The block of the transaction is read for it alone.
    table === "enrich_block" ? expect.anything() : rows.filter(isElsewhere),
  ]);
  expect(await placedRows(world)).toEqual(Object.fromEntries(others));
  // A wallet that is followed later has the same blocks read again.
  await world.client.query("truncate ahs.enrich_cursor, ahs.enrich_wallet, ahs.own_call");
  expect(await enrichInChild(fatal)).toBe(`["transaction"]`);
});

test("processes that are killed leave out nothing that they were not decoding, and one death is not too many", async () => {
  const [once_ = "0x", twice = "0x"] = bundles;
  const reading = { task: "chain", fromBlock: 1, toBlock: 2_000, deaths: 0 } as const;
  const die = async (transaction: Hex | null) => {
    await noteReading(world.db, CHAIN_ID, reading);
    await noteTransaction(world.db, { chainId: CHAIN_ID, task: "chain", transaction });
    return (await takeOverReadings(world.db, CHAIN_ID, ["chain", "past"])).fatal;
  };
  expect(await die(null)).toEqual(new Set());
  expect(await die(once_)).toEqual(new Set());
  expect(await die(twice)).toEqual(new Set());
  expect(await die(null)).toEqual(new Set());
  expect(await die(twice)).toEqual(new Set([twice]));
});

test("an enricher that finishes its ranges has noted each once", async () => {
  await enrichAll(world);
  const [{ task, deaths, transaction_hash } = {}, ...more] = await rowsOf(world, "enrich_reading");
  expect({ task, deaths, transaction_hash, more }).toEqual({
    ...{ task: "chain", deaths: 0, transaction_hash: null, more: [] },
  });
});
