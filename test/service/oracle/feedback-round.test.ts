import {
  type Address,
  createWalletClient,
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
import { reputationRegistryAbi } from "../../../service/chain/abi/reputation-registry.ts";
import { feedback, senderTransaction } from "../../../service/db/tables/publish.ts";
import { quarantine } from "../../../service/db/tables/quarantine.ts";
import { type FeedbackRound, feedbackRound } from "../../../service/oracle/feedback-round.ts";
import { readFeedbackDocument } from "../../../service/oracle/feedback-rows.ts";
import { FEEDBACK_LIMITS, type FeedbackPolicy } from "../../../service/oracle/plan-feedback.ts";
import { CHAIN_ID, localAccount } from "../sender/sender-under-test.ts";
import { until } from "../sender/sender-world.ts";
import { createPublishWorld, type PublishWorld, testWallet } from "./publish-world.ts";

const ORIGIN = "https://health.example";
const owner = localAccount(0);
const policy: FeedbackPolicy = { ...FEEDBACK_LIMITS, dailyWei: 10n ** 18n };
const wallet = testWallet(1);
const other = testWallet(2);

let world: PublishWorld;
let identityRegistry: Address;
let registry: Address;

beforeEach(async () => {
  world = await createPublishWorld();
  identityRegistry = await create(bytecodes.IdentityRegistry as Hex);
  registry = await create(
    `${bytecodes.ReputationRegistry}${identityRegistry.slice(2).padStart(64, "0")}` as Hex,
  );
  await world.db.execute(
    `create table chain_${CHAIN_ID}.agent (agent_id numeric(78) primary key, wallet text, owner text)`,
  );
});
afterEach(() => world.destroy());

async function call(account: ReturnType<typeof localAccount>, to: Address | null, data: Hex) {
  const client = createWalletClient({ account, transport: http(world.rpcUrl) });
  const hash = await client.sendTransaction({ to, data, chain: null });
  return world.client.waitForTransactionReceipt({ hash, pollingInterval: 20 });
}

async function create(data: Hex): Promise<Address> {
  const { contractAddress } = await call(owner, null, data);
  if (!contractAddress) throw new Error("no contract was created");
  return contractAddress;
}

/** Registers an agent and has the index show it with a wallet, by default under an owner of its own. */
async function register(
  agentId: number,
  ofWallet: Address | null,
  by = owner,
  indexedOwner = `owner ${agentId}`,
): Promise<void> {
  const data = encodeFunctionData({ abi: identityRegistryAbi, functionName: "register", args: [] });
  await call(by, identityRegistry, data);
  await world.db.execute(
    `insert into chain_${CHAIN_ID}.agent values (${agentId}, ${ofWallet === null ? "null" : `'${ofWallet}'`}, '${indexedOwner}')`,
  );
}

function round(rules = policy, now = new Date()): Promise<FeedbackRound> {
  return feedbackRound({
    ...{ chainId: CHAIN_ID, db: world.db, registry, client: world.sender, identityRegistry },
    ...{ origin: ORIGIN, node: world.client, policy: rules, now: () => now },
  });
}

/** Rounds until none has anything to send and all calls are settled. */
async function settle(rules = policy): Promise<void> {
  await until(
    async () => {
      const done = await round(rules);
      const sent = (await world.db.select().from(feedback)).filter(({ state }) => state === "sent");
      return done.kind === "done" && done.sent.length === 0 && sent.length === 0 ? true : null;
    },
    () => "all feedback to be settled",
  );
}

async function summary(agentId: number): Promise<readonly [bigint, bigint, number]> {
  return world.client.readContract({
    ...{ address: registry, abi: reputationRegistryAbi, functionName: "getSummary" },
    args: [BigInt(agentId), [world.sender], "ahs", ""],
  });
}

function givenLogs() {
  return world.client.getContractEvents({
    address: registry,
    abi: reputationRegistryAbi,
    eventName: "NewFeedback",
    fromBlock: 0n,
  });
}

const rows = async () =>
  (await world.db.select().from(feedback).orderBy(feedback.id)).map(
    ({ kind, label, feedbackIndex, state }) => `${kind} ${label} ${feedbackIndex} ${state}`,
  );

test("the first grade is left with a document that its hash and the registry's entry match", async () => {
  world.startSender();
  await register(0, wallet);
  await world.store([{ wallet, asOf: 5, points: 82 }]);
  await settle();
  expect(await summary(0)).toEqual([1n, 82n, 0]);
  const [log] = await givenLogs();
  const { feedbackHash, feedbackURI, tag1, tag2 } = log?.args ?? {};
  expect([tag1, tag2, feedbackURI]).toEqual([
    "ahs",
    "AHS-2026.0",
    `${ORIGIN}/evidence/feedback/${feedbackHash}`,
  ]);
  const document = await readFeedbackDocument(world.db, feedbackHash as Hex);
  expect(keccak256(toHex(document ?? ""))).toBe(feedbackHash);
  expect(JSON.parse(document ?? "")).toMatchObject({
    agentRegistry: `eip155:${CHAIN_ID}:${getAddress(identityRegistry)}`,
    agentId: 0,
    clientAddress: `eip155:${CHAIN_ID}:${getAddress(world.sender)}`,
    value: 82,
    valueDecimals: 0,
    record: { wallet: getAddress(wallet), ahs_score: 82, grade: "B", sanctioned: false, as_of_block: 5 },
  });
  expect(await rows()).toEqual(["give B 1 confirmed"]);
});

test("an entry that a restored backup lacks is revoked before another is given", async () => {
  world.startSender();
  await register(0, wallet);
  await world.store([{ wallet, asOf: 5, points: 82 }]);
  await settle();
  await world.db.delete(feedback);
  await settle();
  expect(await summary(0)).toEqual([1n, 82n, 0]);
  expect((await givenLogs()).length).toBe(2);
  expect(await rows()).toEqual(["revoke B null confirmed", "give B 2 confirmed"]);
});

test("a change of grade replaces the entry, a move within it does not", async () => {
  world.startSender();
  await register(0, wallet);
  await world.store([{ wallet, asOf: 5, points: 82 }]);
  await settle();
  await world.store([{ wallet, asOf: 6, points: 88 }]);
  await settle();
  expect(await summary(0)).toEqual([1n, 82n, 0]);
  await world.store([{ wallet, asOf: 7, points: 41 }]);
  await settle();
  expect(await summary(0)).toEqual([1n, 41n, 0]);
  await world.store([{ wallet, asOf: 8, points: 0, sanctionedBy: ["ofac-sdn"] }]);
  await settle();
  expect(await summary(0)).toEqual([1n, 0n, 0]);
  expect(await rows()).toEqual([
    "give B 1 confirmed",
    "revoke B null confirmed",
    "give D 2 confirmed",
    "revoke D null confirmed",
    "give sanctioned 3 confirmed",
  ]);
});

test("an entry is taken back where the score or the wallet is gone, and left again about a new wallet", async () => {
  world.startSender();
  await register(0, wallet);
  await register(1, wallet);
  await world.store([
    { wallet, asOf: 5, points: 82 },
    { wallet: other, asOf: 5, points: 61 },
  ]);
  await settle();
  await world.db.execute(`update chain_${CHAIN_ID}.agent set wallet = '${other}' where agent_id = 0`);
  await world.store([{ wallet, asOf: 6, points: null }]);
  await settle();
  expect([await summary(0), await summary(1)]).toEqual([
    [1n, 61n, 0],
    [0n, 0n, 0],
  ]);
  await world.db.execute(`update chain_${CHAIN_ID}.agent set wallet = null where agent_id = 0`);
  await settle();
  expect(await summary(0)).toEqual([0n, 0n, 0]);
});

test("an agent of our own key is quarantined with the registry's reason, and the others get their feedback", async () => {
  world.startSender();
  await register(0, wallet, localAccount(1));
  await register(1, wallet);
  await world.store([{ wallet, asOf: 5, points: 82 }]);
  await settle();
  expect(await summary(1)).toEqual([1n, 82n, 0]);
  expect(await world.db.select().from(quarantine)).toMatchObject([
    { kind: "feedback", subject: "0", failures: 1, error: "Error: give: Self-feedback not allowed" },
  ]);
  await settle();
  expect(await rows()).toEqual(["give B null failed", "give B 1 confirmed"]);
});

test("thousands of agents of one wallet hold up no other agent, also while the registry refuses them", async () => {
  world.startSender();
  await world.store([
    { wallet, asOf: 5, points: 5 },
    { wallet: other, asOf: 5, points: 95 },
  ]);
  await register(0, other);
  await world.db.execute(
    `insert into chain_${CHAIN_ID}.agent select n, '${wallet}', 'owner ' || n from generate_series(1, 3000) as n`,
  );
  // The registry knows none of them.
  await settle();
  expect(await summary(0)).toEqual([1n, 95n, 0]);
  expect(await world.db.$count(quarantine)).toBe(10);
});

test("an owner has first feedback for two agents a day, whatever wallets they name", async () => {
  world.startSender();
  const wallets = [3, 4, 5].map(testWallet);
  await world.store(wallets.map((one) => ({ wallet: one, asOf: 5, points: 82 })));
  for (const [agentId, one] of wallets.entries()) await register(agentId, one, owner, "one owner");
  await settle();
  expect(await rows()).toEqual(["give B 1 confirmed", "give B 1 confirmed"]);
  await settle();
  expect(await rows()).toHaveLength(2);
});

test("an entry that the key took back by other means is replaced all the same", async () => {
  const sender = world.startSender();
  await register(0, wallet);
  await world.store([{ wallet, asOf: 5, points: 82 }]);
  await settle();
  await sender.stop();
  const args = [0n, 1n] as const;
  await call(
    localAccount(1),
    registry,
    encodeFunctionData({ abi: reputationRegistryAbi, functionName: "revokeFeedback", args }),
  );
  // A stranger's use of the key's nonce is settled once it is final.
  await world.mine(10);
  world.startSender();
  await world.store([{ wallet, asOf: 7, points: 41 }]);
  await settle();
  expect(await summary(0)).toEqual([1n, 41n, 0]);
});

test("a process that dies at any statement of a round loses and doubles nothing", async () => {
  await register(0, wallet);
  await world.store([{ wallet, asOf: 5, points: 82 }]);
  await world.db.execute(`
    create function die() returns trigger language plpgsql as $$ begin raise exception 'killed'; end $$;
    create trigger die before insert on ahs.sender_transaction for each row when (new.purpose = 'feedback') execute function die()`);
  await expect(round()).rejects.toThrow();
  expect(await rows()).toEqual([]);
  await world.db.execute("drop trigger die on ahs.sender_transaction");
  await round();
  // Rounds of other processes, and further ones, while the call is under way.
  await Promise.all([round(), round(), round()]);
  const sender = world.startSender();
  await until(
    async () =>
      (await world.rows()).some(({ purpose, state }) => purpose === "feedback" && state !== "queued")
        ? true
        : null,
    () => "the call to be sent",
  );
  await sender.stop();
  world.startSender();
  await settle();
  expect([await rows(), (await givenLogs()).length]).toEqual([["give B 1 confirmed"], 1]);
});

test("a reorg that takes a replacement out ends with one entry, the newest", async () => {
  world.startSender();
  await register(0, wallet);
  await world.store([{ wallet, asOf: 5, points: 82 }]);
  await settle();
  await world.mine(10);
  await world.store([{ wallet, asOf: 7, points: 41 }]);
  await settle();
  await world.reorg(2);
  await until(
    async () => {
      await round();
      const [count, value] = await summary(0);
      return count === 1n && value === 41n ? true : null;
    },
    () => "the replacement to be mined again",
  );
  await settle();
  expect(await rows()).toEqual(["give B 1 confirmed", "revoke B null confirmed", "give D 2 confirmed"]);
});

test("a confirmed entry whose transaction reverts after a reorg keeps its index until that is final", async () => {
  const sender = world.startSender();
  await register(0, wallet);
  await world.store([{ wallet, asOf: 5, points: 82 }]);
  await settle();
  await sender.stop();
  await world.db.update(senderTransaction).set({ state: "reverted", final: false });
  await round();
  expect(await rows()).toEqual(["give B 1 confirmed"]);
});

test("the day's money bounds what is spent, the gravest first, and the rest waits for the next day", async () => {
  world.startSender();
  const wallets = [1, 2, 3, 4].map(testWallet);
  for (const [agentId, one] of wallets.entries()) await register(agentId, one);
  await world.store(
    wallets.map((one, index) => ({ wallet: one, asOf: 5, points: [95, 80, 10, 65][index] ?? 0 })),
  );
  const { maxFeePerGas } = await world.client.estimateFeesPerGas();
  const dailyWei = 2n * policy.expectedGas.give * maxFeePerGas + 1n;
  await settle({ ...policy, dailyWei });
  const spent = (await world.rows()).reduce((sum, { costWei }) => sum + (costWei ?? 0n), 0n);
  expect(spent).toBeLessThanOrEqual(dailyWei);
  expect((await summary(2))[0]).toBe(1n);
  const left = (await givenLogs()).length;
  expect(left).toBeGreaterThanOrEqual(1);
  expect(left).toBeLessThan(4);
  const held = await round({ ...policy, dailyWei });
  expect(held).toMatchObject({ kind: "done", held: 4 - left, sent: [] });
  const tomorrow = new Date(Date.now() + 86_400_000);
  expect(await round({ ...policy, dailyWei }, tomorrow)).toMatchObject({ kind: "done" });
});
