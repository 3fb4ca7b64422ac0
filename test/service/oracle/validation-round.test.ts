import { type Address, createWalletClient, encodeFunctionData, type Hex, http, keccak256, toHex } from "viem";
import { afterEach, beforeEach, expect, test } from "vitest";
import bytecodes from "../../../contracts/bytecode.json" with { type: "json" };
import { identityRegistryAbi } from "../../../service/chain/abi/identity-registry.ts";
import { validationRegistryAbi } from "../../../service/chain/abi/validation-registry.ts";
import { createChainReader } from "../../../service/chain/node/chain-reader.ts";
import { validationRequest } from "../../../service/db/tables/publish.ts";
import { fetchFailure } from "../../../service/net/exchange.ts";
import type { GuardedFetch } from "../../../service/net/guarded-fetch.ts";
import { validationRound } from "../../../service/oracle/validation-round.ts";
import { readValidationDocument } from "../../../service/oracle/validation-rows.ts";
import { CHAIN_ID, localAccount } from "../sender/sender-under-test.ts";
import { until } from "../sender/sender-world.ts";
import { createPublishWorld, type PublishWorld, testWallet } from "./publish-world.ts";

const owner = localAccount(0);
const wallet = testWallet(1);
const FINALITY = 5;
const HOUR_MS = 3_600_000;

let world: PublishWorld;
let identityRegistry: Address;
let registry: Address;

beforeEach(async () => {
  world = await createPublishWorld();
  identityRegistry = await create(bytecodes.IdentityRegistry as Hex);
  const argument = identityRegistry.slice(2).padStart(64, "0");
  registry = await create(`${bytecodes.ValidationRegistry}${argument}` as Hex);
  await world.db.execute(
    `create table chain_${CHAIN_ID}.agent (agent_id numeric(78) primary key, owner text, wallet text)`,
  );
  const data = encodeFunctionData({ abi: identityRegistryAbi, functionName: "register", args: [] });
  for (const agentId of [0, 1]) {
    await call(identityRegistry, data);
    const ofAgent = agentId === 0 ? wallet : testWallet(9);
    await world.db.execute(
      `insert into chain_${CHAIN_ID}.agent values (${agentId}, '${owner.address.toLowerCase()}', '${ofAgent}')`,
    );
  }
  await world.store([{ wallet, asOf: 5, points: 82 }]);
});
afterEach(() => world.destroy());

async function call(to: Address | null, data: Hex) {
  const client = createWalletClient({ account: owner, transport: http(world.rpcUrl) });
  const hash = await client.sendTransaction({ to, data, chain: null });
  return world.client.waitForTransactionReceipt({ hash, pollingInterval: 20 });
}

async function create(data: Hex): Promise<Address> {
  const { contractAddress } = await call(null, data);
  if (!contractAddress) throw new Error("no contract was created");
  return contractAddress;
}

const bodyFor = (agentId: number, salt = 0) =>
  JSON.stringify({ type: "ahs", agentRegistry: `eip155:${CHAIN_ID}:${identityRegistry}`, agentId, salt });
const dataUri = (body: string) => `data:application/json;base64,${Buffer.from(body).toString("base64")}`;

/** Requests a validation, final for the next round. */
async function ask(
  agentId: number,
  uri: string,
  hash: Hex,
  validator: Address = world.sender,
): Promise<void> {
  const args = [validator, BigInt(agentId), uri, hash] as const;
  await call(
    registry,
    encodeFunctionData({ abi: validationRegistryAbi, functionName: "validationRequest", args }),
  );
  await world.mine(FINALITY + 1);
  await world.sync();
}

function round(options: { fetch?: GuardedFetch; perDay?: number; now?: Date } = {}) {
  const { fetch = async () => fetchFailure("connection"), perDay = 100, now = new Date() } = options;
  return validationRound({
    ...{
      chainId: CHAIN_ID,
      db: world.db,
      registry,
      startBlock: 0,
      finalityBlocks: FINALITY,
      identityRegistry,
    },
    ...{ validator: world.sender, origin: "https://health.example", fetch, perDay, now: () => now },
    node: createChainReader({
      ...{ url: world.rpcUrl, timeoutMs: 5_000, retries: 0, retryMs: 10 },
      signal: new AbortController().signal,
      onRequest: () => undefined,
    }),
  });
}

const requests = async () =>
  (await world.db.select().from(validationRequest).orderBy(validationRequest.block)).map(
    ({ state, reason, response }) => ({ state, reason, response }),
  );

function answers() {
  return world.client.getContractEvents({
    address: registry,
    abi: validationRegistryAbi,
    eventName: "ValidationResponse",
    fromBlock: 0n,
  });
}

test("a request for a score is answered once, with a document of the hash that the answer names", async () => {
  const body = bodyFor(0);
  await ask(0, dataUri(body), keccak256(toHex(body)));
  // One for another validator is not ours.
  await ask(0, dataUri(bodyFor(0, 1)), keccak256(toHex(bodyFor(0, 1))), owner.address);
  expect(await round()).toEqual(["sent"]);
  expect(await round()).toEqual([]);
  world.startSender();
  await until(
    async () => {
      await world.mine();
      await world.sync();
      return (await round()).includes("answered") ? true : null;
    },
    () => "the answer to be final",
  );
  const [answer, ...others] = await answers();
  expect(others).toEqual([]);
  const { response, tag, responseHash, responseURI } = answer?.args ?? {};
  expect([response, tag, responseURI]).toEqual([
    82,
    "ahs",
    `https://health.example/evidence/validation/${responseHash}`,
  ]);
  const document = (await readValidationDocument(world.db, responseHash as Hex)) ?? "";
  expect(keccak256(toHex(document))).toBe(responseHash);
  expect(JSON.parse(document)).toMatchObject({
    agentId: 0,
    response: 82,
    record: { grade: "B", as_of_block: 5 },
  });
  expect(await requests()).toEqual([{ state: "answered", reason: null, response: 82 }]);
});

test("requests that fail a check are stored with the reason and not answered", async () => {
  // A hash that agent 1 took first, the body of which asks for agent 0.
  await ask(1, dataUri(bodyFor(0)), keccak256(toHex(bodyFor(0))));
  await ask(0, dataUri(bodyFor(0)), keccak256(toHex("another")));
  await ask(1, dataUri(bodyFor(1)), keccak256(toHex(bodyFor(1))));
  await ask(0, `data:,${"x".repeat(17_000)}`, keccak256("0x02"));
  expect(await round()).toEqual(["refused", "refused", "refused"]);
  expect(await requests()).toEqual([
    { state: "refused", reason: "the body names agent 0, the request is for 1", response: null },
    { state: "refused", reason: expect.stringContaining("keccak256"), response: null },
    { state: "refused", reason: expect.stringContaining("no score"), response: null },
    { state: "refused", reason: expect.stringContaining("at most 16384"), response: null },
  ]);
});

test("a document that does not come is asked for again, five times in all", async () => {
  await ask(0, "https://agent.example/request", keccak256(toHex(bodyFor(0))));
  let now = Date.now();
  for (let attempt = 1; attempt < 5; attempt += 1) {
    expect(await round({ now: new Date(now) })).toEqual(["postponed"]);
    expect(await round({ now: new Date(now) })).toEqual([]);
    now += HOUR_MS;
  }
  expect(await round({ now: new Date(now) })).toEqual(["refused"]);
});

test("a document is read through the guarded fetch", async () => {
  const body = bodyFor(0);
  await ask(0, "https://agent.example/request", keccak256(toHex(body)));
  const fetch: GuardedFetch = async ({ url }) => ({
    ...{ kind: "answered", headers: new Map(), body: Buffer.from(body) },
    status: url === "https://agent.example/request" ? 200 : 404,
  });
  expect(await round({ fetch })).toEqual(["sent"]);
});

test("the answers of a day are bounded, in all and for the agents of one owner", async () => {
  for (let salt = 0; salt < 7; salt += 1)
    await ask(0, dataUri(bodyFor(0, salt)), keccak256(toHex(bodyFor(0, salt))));
  expect(await round({ perDay: 2 })).toEqual(["sent", "sent", "postponed", "postponed"]);
  expect(await round()).toEqual(["sent", "sent", "sent"]);
  const tomorrow = new Date(Date.now() + 24 * HOUR_MS);
  expect(await round({ now: tomorrow })).toEqual(["sent", "sent"]);
});

test("a round that dies while it answers leaves the request pending, and the next one answers once", async () => {
  await ask(0, dataUri(bodyFor(0)), keccak256(toHex(bodyFor(0))));
  await world.db.execute(`
    create function die() returns trigger language plpgsql as $$ begin raise exception 'killed'; end $$;
    create trigger die before update on ahs.validation_request for each row execute function die()`);
  await expect(round()).rejects.toThrow();
  expect([(await requests())[0]?.state, (await world.rows()).length]).toEqual(["pending", 0]);
  await world.db.execute("drop trigger die on ahs.validation_request");
  expect(await round()).toEqual(["sent"]);
  expect((await world.rows()).filter(({ purpose }) => purpose === "validation")).toHaveLength(1);
});
