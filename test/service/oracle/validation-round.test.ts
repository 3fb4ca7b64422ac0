import {
  type Address,
  createWalletClient,
  decodeFunctionData,
  encodeFunctionData,
  getAddress,
  type Hex,
  http,
  keccak256,
  toHex,
} from "viem";
import { afterEach, beforeEach, expect, test } from "vitest";
import bytecodes from "../../../contracts/bytecode.json" with { type: "json" };
import { identityRegistryAbi } from "../../../service/chain/abi/identity-registry.ts";
import { validationRegistryAbi } from "../../../service/chain/abi/validation-registry.ts";
import { createChainReader } from "../../../service/chain/node/chain-reader.ts";
import { senderTransaction, validationRequest } from "../../../service/db/tables/publish.ts";
import { fetchFailure } from "../../../service/net/exchange.ts";
import type { GuardedFetch } from "../../../service/net/guarded-fetch.ts";
import type { DecidedVerdict } from "../../../service/oracle/validation-document.ts";
import { validationRound } from "../../../service/oracle/validation-round.ts";
import { readValidationDocument } from "../../../service/oracle/validation-rows.ts";
import { CHAIN_ID, localAccount } from "../sender/sender-under-test.ts";
import { until } from "../sender/sender-world.ts";
import { createPublishWorld, type PublishWorld, testWallet } from "./publish-world.ts";

const owner = localAccount(0);
const wallet = testWallet(1);
const FAUCET = testWallet(99);
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
const VERDICT_ID = "0f8fad5b-d9cb-469f-a165-70867728950e";
const verdictBody = (agentId: number, salt = 0) =>
  JSON.stringify({ ...JSON.parse(bodyFor(agentId, salt)), type: "ahm-verify", verdictId: VERDICT_ID });
const REJECTED: DecidedVerdict = {
  kind: "decided",
  ...{ decision: "REJECT", score: 21, confidence: 0.9, panelVersion: "panel-3", isReviewed: false },
  evidenceHash: keccak256("0x0e"),
  evaluatedAt: new Date("2026-11-01T00:00:00Z"),
  job: { chainId: CHAIN_ID, escrow: testWallet(7), jobId: 16n, specHash: "0x01", outputHash: "0x02" },
};
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

function round(
  options: Partial<Pick<Parameters<typeof validationRound>[0], "readDecision">> & {
    fetch?: GuardedFetch;
    perDay?: number;
    now?: Date;
  } = {},
) {
  const { readDecision = async () => ({ kind: "unknown" as const }) } = options;
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
    readDecision,
    ...{
      validator: world.sender,
      origin: "https://health.example",
      fetch,
      perDay,
      now: () => now,
      publicFunders: [FAUCET],
    },
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

test("a request for a verdict is answered with the decision on the output of the agent's own wallet, without its id", async () => {
  await ask(0, dataUri(verdictBody(0)), keccak256(toHex(verdictBody(0))));
  const asked: unknown[] = [];
  const readDecision = async (names: unknown) => {
    asked.push(names);
    return REJECTED;
  };
  expect(await round({ readDecision })).toEqual(["sent"]);
  expect(asked).toEqual([{ verdictId: VERDICT_ID, provider: wallet }]);
  const [row] = await world.db.select().from(validationRequest);
  const { createdAt: _, ...document } = JSON.parse(row?.document ?? "");
  expect(document).toEqual({
    agentRegistry: `eip155:${CHAIN_ID}:${getAddress(identityRegistry)}`,
    agentId: 0,
    validatorAddress: `eip155:${CHAIN_ID}:${getAddress(world.sender)}`,
    requestHash: keccak256(toHex(verdictBody(0))),
    response: 21,
    tag: "ahm-verify:reject",
    verdict: {
      ...{ final_verdict: "REJECT", final_score: 21, confidence: 0.9, is_reviewed: false },
      ...{ panel_version: "panel-3", evaluated_at: "2026-11-01T00:00:00.000Z" },
      evidence_hash: keccak256("0x0e"),
      job: {
        ...{ chain_id: CHAIN_ID, escrow: getAddress(testWallet(7)), job_id: "0x10" },
        ...{ spec_hash: "0x01", output_hash: "0x02" },
      },
    },
  });
  const [queued] = await world.rows();
  const { args } = decodeFunctionData({ abi: validationRegistryAbi, data: queued?.data ?? "0x" });
  expect(args).toEqual([
    row?.requestHash,
    21,
    `https://health.example/evidence/validation/${row?.documentHash}`,
    row?.documentHash,
    "ahm-verify:reject",
  ]);
});

test("a verdict that a reviewer decided without a score of the panel is answered by its decision", async () => {
  await ask(0, dataUri(verdictBody(0)), keccak256(toHex(verdictBody(0))));
  const reviewed = { ...REJECTED, decision: "ALLOW", score: null, job: null } as const;
  expect(await round({ readDecision: async () => reviewed })).toEqual(["sent"]);
  expect(await requests()).toEqual([{ state: "sent", reason: null, response: 100 }]);
});

test.each(["undecided", "failed"] as const)("a verdict that is %s is waited for", async (kind) => {
  await ask(0, dataUri(verdictBody(0)), keccak256(toHex(verdictBody(0))));
  expect(await round({ readDecision: async () => ({ kind }) })).toEqual(["postponed"]);
  const later = new Date(Date.now() + HOUR_MS);
  expect(await round({ readDecision: async () => REJECTED, now: later })).toEqual(["sent"]);
});

test("an unknown verdict is refused", async () => {
  await ask(0, dataUri(verdictBody(0)), keccak256(toHex(verdictBody(0))));
  expect(await round()).toEqual(["refused"]);
  expect(await requests()).toMatchObject([
    { reason: "the agent's wallet has no such verdict as a provider" },
  ]);
});

test("a wallet that the index or the scoring does not know yet is waited for", async () => {
  const body = bodyFor(1);
  await ask(1, dataUri(body), keccak256(toHex(body)));
  const start = Date.now();
  await world.db.execute(`update chain_${CHAIN_ID}.agent set wallet = null where agent_id = 1`);
  expect(await round({ now: new Date(start) })).toEqual(["postponed"]);
  await world.db.execute(`update chain_${CHAIN_ID}.agent set wallet = '${testWallet(9)}' where agent_id = 1`);
  expect(await round({ now: new Date(start + HOUR_MS) })).toEqual(["postponed"]);
  await world.store([{ wallet: testWallet(9), asOf: 5, points: 60 }]);
  expect(await round({ now: new Date(start + 3 * HOUR_MS) })).toEqual(["sent"]);
});

test("requests that fail a check are stored with the reason and not answered", async () => {
  // A hash that agent 1 took first, the body of which asks for agent 0.
  await ask(1, dataUri(bodyFor(0)), keccak256(toHex(bodyFor(0))));
  await ask(0, dataUri(bodyFor(0)), keccak256(toHex("another")));
  await world.store([{ wallet: testWallet(9), asOf: 5, points: null }]);
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

test("a document that does not come is asked for again for a week", async () => {
  await ask(0, "https://agent.example/request", keccak256(toHex(bodyFor(0))));
  const start = Date.now();
  const outcomes: string[] = [];
  for (let hours = 0; hours <= 7 * 24; hours += 6)
    outcomes.push(...(await round({ now: new Date(start + hours * HOUR_MS) })));
  expect(outcomes).toEqual([...Array.from({ length: 28 }, () => "postponed"), "refused"]);
});

test.each([
  ["was given up", { state: "failed", failure: "given_up" }, "given_up"],
  [
    "failed in two simulations",
    { state: "failed", failure: "reverted_in_simulation" },
    "reverted_in_simulation",
  ],
  ["reverted in a final block", { state: "reverted", final: true }, "reverted in a block"],
] as const)(
  "an answer whose transaction %s is sent again, until a week is over",
  async (_name, end, cause) => {
    await ask(0, dataUri(bodyFor(0)), keccak256(toHex(bodyFor(0))));
    const start = Date.now();
    const fail = () => world.db.update(senderTransaction).set(end);
    expect(await round({ now: new Date(start) })).toEqual(["sent"]);
    await fail();
    expect(await round({ now: new Date(start) })).toEqual(["postponed"]);
    expect((await requests())[0]).toMatchObject({ state: "pending", reason: `not answered: ${cause}` });
    expect(await round({ now: new Date(start + HOUR_MS) })).toEqual(["sent"]);
    expect((await world.rows()).map(({ state }) => state)).toEqual([end.state, "queued"]);
    await fail();
    expect(await round({ now: new Date(start + 8 * 24 * HOUR_MS) })).toEqual(["refused"]);
    expect((await requests())[0]).toMatchObject({ state: "refused", reason: `not answered: ${cause}` });
  },
);

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
  expect(await round({ perDay: 4 })).toEqual(["sent", "sent", "postponed", "postponed"]);
  expect(await round()).toEqual(["sent", "sent", "sent"]);
  const tomorrow = new Date(Date.now() + 24 * HOUR_MS);
  expect(await round({ now: tomorrow })).toEqual(["sent", "sent"]);
});

/** Registers an agent of this owner and wallet, and requests its score. */
async function askOf(
  agentId: number,
  of: { readonly owner: Address; readonly wallet: Address },
): Promise<void> {
  const data = encodeFunctionData({ abi: identityRegistryAbi, functionName: "register", args: [] });
  await call(identityRegistry, data);
  await world.db.execute(
    `insert into chain_${CHAIN_ID}.agent values (${agentId}, '${of.owner}', '${of.wallet}')`,
  );
  await ask(agentId, dataUri(bodyFor(agentId)), keccak256(toHex(bodyFor(agentId))));
}

const stateOf = async (agentId: number) => {
  const rows = await world.db.select().from(validationRequest);
  return rows.find((row) => row.agentId === BigInt(agentId))?.state;
};

test("nine agents of nine owners with one wallet leave an honest request after them its answer of the day", async () => {
  const honest = testWallet(50);
  await world.store([{ wallet: honest, asOf: 5, points: 70 }]);
  for (let agentId = 2; agentId < 11; agentId += 1)
    await askOf(agentId, { owner: testWallet(100 + agentId), wallet });
  await askOf(11, { owner: testWallet(200), wallet: honest });
  for (let rounds = 0; rounds < 3; rounds += 1) await round({ perDay: 3 });
  expect(await stateOf(11)).toBe("sent");
});

test("wallets that one account funded leave the others their answers, those that a public funder paid are strangers", async () => {
  const [funded, strangers, root] = [[60, 61, 62], [70, 71, 72], testWallet(90)];
  const link = (of: readonly number[], funder: Address) =>
    of.map((index) => [testWallet(index), funder] as const);
  for (const [account, funder] of [...link(funded, root), ...link(strangers, FAUCET)])
    await world.db.execute(
      `insert into ahs.account_fact (chain_id, address, first_funder, source, read_block)
       values (${CHAIN_ID}, '${account}', '${funder}', 'index', 1)`,
    );
  const asked = [...funded, ...strangers].map(testWallet);
  for (const one of asked) await world.store([{ wallet: one, asOf: 5, points: 70 }]);
  for (const [place, one] of asked.entries())
    await askOf(2 + place, { owner: testWallet(100 + place), wallet: one });
  for (let rounds = 0; rounds < 4; rounds += 1) await round({ perDay: 4 });
  const sent = await Promise.all(asked.map((_, place) => stateOf(2 + place)));
  expect(sent.slice(0, 3).filter((state) => state === "sent").length).toBeLessThanOrEqual(2);
  expect(sent.slice(3).filter((state) => state === "sent").length).toBeGreaterThanOrEqual(2);
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
