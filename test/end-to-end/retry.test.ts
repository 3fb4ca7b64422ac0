import { type Address, type Hex, parseTransaction } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { roleAccounts } from "../../devnet/accounts.ts";
import type { ProtectAnswer } from "../../service/api/routes/get-agent-protect.ts";
import type { RetryAnswer, UnsignedTransactionAnswer } from "../../service/api/routes/get-retry.ts";
import { until } from "../support/anvil-testkit/script.ts";
import type { TestServer } from "../support/anvil-testkit/services.ts";
import { createTestKey, readBalance } from "../support/anvil-testkit/test-keys.ts";
import { bootTestkit, type Testkit } from "../support/anvil-testkit/testkit.ts";
import { agentCalls, TOKENS } from "./retry-calls.ts";

const agent = privateKeyToAccount(generatePrivateKey());
const AGENT = agent.address;
const { work, repair, refuse, perform, pay, mint, approve, swap, ...calls } = agentCalls(AGENT);

let kit: Testkit;
let server: TestServer;
let secret: string;
let mining: NodeJS.Timeout;
let reach: (block: number) => Promise<void>;
const sent: Record<string, Hex> = {};

beforeAll(async () => {
  kit = await bootTestkit({ ageSeconds: 86_400 });
  const { chain } = kit;
  const { dai, moonToken, daiWethPool, repairableTarget, revertOnDemand } = chain.contracts;
  const owner = roleAccounts().deployer.address;
  await chain.register(AGENT);
  await chain.send({ from: owner, to: dai, data: mint(AGENT) });
  await chain.send({ from: AGENT, to: dai, data: approve(daiWethPool) });

  await chain.send({ from: AGENT, to: dai, data: calls.letDrain });
  await chain.send({ from: AGENT, to: chain.contracts.identityRegistry, data: calls.letMoveAgents });

  await chain.send({ from: owner, to: repairableTarget, data: calls.breakDown });
  await fail("broken", { to: repairableTarget, data: work });
  await fail("swap", { to: daiWethPool, data: swap(dai, 10n ** 18n / 4n) });
  await fail("starved", { to: chain.contracts.keeperTarget1, data: perform, gas: 30_000n });
  await fail("refused", { to: revertOnDemand, data: refuse });
  await fail("unpaid", { to: moonToken, data: pay(TOKENS) });
  await fail("unpaid again", { to: moonToken, data: pay(TOKENS / 2n) });

  // What kept them from succeeding goes away for all but one.
  await chain.send({ from: AGENT, to: repairableTarget, data: repair });
  for (const call of calls.cheapenWeth(chain.contracts, owner)) {
    expect(await chain.send({ from: owner, ...call })).toMatchObject({ status: "success" });
  }
  await chain.send({ from: owner, to: moonToken, data: mint(AGENT) });
  await chain.send({ from: AGENT, to: moonToken, data: pay(TOKENS / 4n) });

  await chain.toWallClock();
  await chain.mine(40, 0);
  const indexer = await kit.startIndexer();
  reach = indexer.reach;
  await reach(await chain.head());
  kit.startWorker();
  server = await kit.startServer();
  ({ secret } = await createTestKey(kit.db, null));
  startMining();
  kit.onClose(async () => stopMining());
  await until({ what: "reports are answered", timeoutMs: 170_000 }, async () =>
    (await get(`/retry/${AGENT}`)).status === 200 ? true : null,
  );
});

afterAll(() => kit?.close());

function startMining(): void {
  mining = setInterval(() => void kit.chain.tick(), 1_000);
}

function stopMining(): void {
  clearInterval(mining);
}

/** Sends what reverts, and remembers its hash. */
async function fail(name: string, call: { to: Address; data: Hex; gas?: bigint }): Promise<void> {
  const { hash, status } = await kit.chain.send({ from: AGENT, ...call });
  expect([name, status]).toEqual([name, "reverted"]);
  sent[name] = hash;
}

async function get(path: string): Promise<Response> {
  return fetch(`${server.baseUrl}${path}`, { headers: { "X-API-Key": secret } });
}

async function retries(): Promise<RetryAnswer> {
  const response = await get(`/retry/${AGENT}`);
  expect(response.status).toBe(200);
  return (await response.json()) as RetryAnswer;
}

async function protection(search: string): Promise<ProtectAnswer> {
  const response = await get(`/agent/protect/${AGENT}${search}`);
  expect(response.status).toBe(200);
  return (await response.json()) as ProtectAnswer;
}

async function allowance(token: Address): Promise<bigint> {
  return BigInt(
    (await kit.chain.rpc.request("eth_call", { to: token, data: calls.askAllowance }, "latest")) as Hex,
  );
}

/** What was offered, with the agent's signature. */
function signed({ serialized }: UnsignedTransactionAnswer): Promise<Hex> {
  return agent.signTransaction(parseTransaction(serialized as Hex));
}

/** Signs what was offered, sends it, and answers what became of it. */
async function signAndSend(transaction: UnsignedTransactionAnswer): Promise<string> {
  const { rpc } = kit.chain;
  const hash = await rpc.request("eth_sendRawTransaction", await signed(transaction));
  await rpc.request("evm_mine");
  const receipt = (await rpc.request("eth_getTransactionReceipt", hash)) as { readonly status: Hex };
  return receipt.status;
}

describe("GET /retry", () => {
  test("offers what failed and would pass now, in the order of the originals", async () => {
    const { offers, simulated_at, rehearsed } = await retries();
    expect(offers.map(({ failure }) => [failure.hash, failure.cause])).toEqual([
      [sent.broken, "reverted"],
      [sent.swap, "slippage"],
      [sent.starved, "out_of_gas"],
    ]);
    const [first] = offers;
    expect(offers.map(({ transaction }) => transaction.nonce)).toEqual(
      offers.map((_, place) => Number(first?.transaction.nonce) + place),
    );
    expect(offers.every(({ simulation }) => simulation.block === simulated_at.block)).toBe(true);
    expect(rehearsed).toBe(true);
  });

  test("lists all others with the reason", async () => {
    const { others } = await retries();
    const byHash = new Map(others.map((other) => [other.failure.hash, other]));
    expect(byHash.get(sent.refused ?? "")).toMatchObject({
      reason: "simulation_fails",
      detail: "not today",
      failure: { cause_reason: "not today" },
    });
    for (const name of ["unpaid", "unpaid again"]) {
      expect(byHash.get(sent[name] ?? "")).toMatchObject({
        reason: "repaired",
        failure: { intent: "transfer", cause_reason: "InsufficientBalance()" },
      });
    }
  });

  test("offered transactions, signed and sent, succeed where the originals failed, and are not offered again", async () => {
    const { offers } = await retries();
    for (const { transaction } of offers) expect(await signAndSend(transaction)).toBe("0x1");
    await reach(await kit.chain.head());
    const after = await retries();
    expect(after.offers).toEqual([]);
    const repaired = after.others
      .filter(({ reason }) => reason === "repaired")
      .map(({ failure }) => failure.hash);
    expect(new Set(repaired)).toEqual(
      new Set([...offers.map(({ failure }) => failure.hash), sent.unpaid, sent["unpaid again"]]),
    );
  });

  test("what is under way for the same keeps a failure from being offered, and nonces follow it", async () => {
    const { chain } = kit;
    const { repairableTarget } = chain.contracts;
    const owner = roleAccounts().deployer.address;
    await chain.send({ from: owner, to: repairableTarget, data: calls.breakDown });
    await fail("broken anew", { to: repairableTarget, data: work });
    await fail("starved anew", { to: chain.contracts.keeperTarget2, data: perform, gas: 30_000n });
    await chain.send({ from: AGENT, to: repairableTarget, data: repair });
    await reach(await chain.head());
    const { offers } = await retries();
    const [first, second] = offers;
    if (first === undefined || second === undefined) throw new Error("expected two offers");
    stopMining();
    const hash = await chain.rpc.request("eth_sendRawTransaction", await signed(first.transaction));
    const meanwhile = await retries();
    await chain.tick();
    startMining();
    expect(meanwhile.pending_transactions).toBe(1);
    expect(meanwhile.others.find(({ by }) => by === hash)).toMatchObject({
      reason: "under_way",
      failure: { hash: sent["broken anew"] },
    });
    expect(meanwhile.offers.map(({ failure, transaction }) => [failure.hash, transaction.nonce])).toEqual([
      [second.failure.hash, second.transaction.nonce],
    ]);
  });
});

describe("GET /agent/protect", () => {
  test("takes back approvals at risk and retries in one row of transactions that all succeed", async () => {
    const { dai, identityRegistry, keeperTarget2, revertOnDemand } = kit.chain.contracts;
    const plan = await protection("");
    const signable = plan.steps.filter(({ transaction }) => transaction !== null);
    expect(signable.map(({ action, transaction }) => `${action} ${transaction?.to}`).toSorted()).toEqual(
      [
        `revoke_approval ${dai}`,
        `revoke_approval ${identityRegistry}`,
        `retry_transaction ${keeperTarget2}`,
      ].toSorted(),
    );
    expect(plan.steps.find(({ transaction }) => transaction?.to === dai)).toMatchObject({
      priority: Math.min(...signable.map(({ priority }) => priority)),
      value_usd: 500,
    });
    const transactions = plan.steps.flatMap(({ transaction }) => transaction ?? []);
    expect(transactions.map(({ nonce }) => nonce)).toEqual(
      transactions.map((_, place) => plan.first_nonce + place),
    );
    expect(plan.not_retried.find(({ failure }) => failure.to === revertOnDemand)).toMatchObject({
      reason: "simulation_fails",
    });
    for (const transaction of transactions) expect(await signAndSend(transaction)).toBe("0x1");
    expect(await allowance(dai)).toBe(0n);
    await reach(await kit.chain.head());
    const after = await protection("");
    expect(after.steps.filter(({ transaction }) => transaction !== null)).toEqual([]);
  });

  test("monitors for 30 days where a webhook_url is given, and refuses one on this machine without a charge", async () => {
    const monitored = await protection("?webhook_url=https://1.1.1.1/hook");
    expect(monitored.monitoring).toMatchObject({
      webhook_url: "https://1.1.1.1/hook",
      secret: expect.stringMatching(/^whsec_/),
    });
    const key = await createTestKey(kit.db, 25_000);
    const refused = await fetch(
      `${server.baseUrl}/agent/protect/${AGENT}?webhook_url=https://127.0.0.1/hook`,
      {
        headers: { "X-API-Key": key.secret },
      },
    );
    expect(refused.status).toBe(422);
    expect(await readBalance(kit.db, key.id)).toBe(25_000);
  });
});
