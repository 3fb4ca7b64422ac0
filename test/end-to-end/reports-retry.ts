import { type Address, type Hex, parseTransaction } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { beforeAll, describe, expect, test } from "vitest";
import { roleAccounts } from "../../devnet/accounts.ts";
import type { ProtectAnswer } from "../../service/api/routes/get-agent-protect-schema.ts";
import type { RetryAnswer } from "../../service/api/routes/get-retry.ts";
import type { UnsignedTransactionAnswer } from "../../service/api/schemas/retries.ts";
import type { Testkit } from "../support/anvil-testkit/testkit.ts";
import { readBalance } from "../support/test-keys.ts";
import { until } from "../support/until.ts";
import { agentCalls, TOKENS } from "./reports-agent-calls.ts";
import type { ReportStand } from "./reports-stand.ts";

const agent = privateKeyToAccount(generatePrivateKey());
const AGENT = agent.address;
const { work, repair, refuse, perform, pay, mint, approve, swap, ...calls } = agentCalls(AGENT);
const sent: Record<string, Hex> = {};

/** Makes an agent fail in every way, and removes most causes, within this hour. */
export async function makeFailedPast({ chain }: Testkit): Promise<void> {
  const { dai, moonToken, daiWethPool, repairableTarget, revertOnDemand } = chain.contracts;
  const owner = roleAccounts().deployer.address;
  await chain.register(AGENT);
  await chain.send({ from: owner, to: dai, data: mint(AGENT) });
  await chain.send({ from: AGENT, to: dai, data: approve(daiWethPool) });

  await chain.send({ from: AGENT, to: dai, data: calls.letDrain });
  await chain.send({ from: AGENT, to: chain.contracts.identityRegistry, data: calls.letMoveAgents });

  await chain.send({ from: owner, to: repairableTarget, data: calls.breakDown });
  await fail(chain, "broken", { to: repairableTarget, data: work });
  await fail(chain, "swap", { to: daiWethPool, data: swap(dai, 10n ** 18n / 4n) });
  await fail(chain, "starved", { to: chain.contracts.keeperTarget1, data: perform, gas: 30_000n });
  await fail(chain, "refused", { to: revertOnDemand, data: refuse });
  await fail(chain, "unpaid", { to: moonToken, data: pay(TOKENS) });
  await fail(chain, "unpaid again", { to: moonToken, data: pay(TOKENS / 2n) });

  // The causes of all failures but one go away.
  await chain.send({ from: AGENT, to: repairableTarget, data: repair });
  for (const call of calls.cheapenWeth(chain.contracts, owner)) {
    expect(await chain.send({ from: owner, ...call })).toMatchObject({ status: "success" });
  }
  await chain.send({ from: owner, to: moonToken, data: mint(AGENT) });
  await chain.send({ from: AGENT, to: moonToken, data: pay(TOKENS / 4n) });
}

/** Sends what reverts, and remembers its hash. */
async function fail(
  chain: Testkit["chain"],
  name: string,
  call: { to: Address; data: Hex; gas?: bigint },
): Promise<void> {
  const { hash, status } = await chain.send({ from: AGENT, ...call });
  expect([name, status]).toEqual([name, "reverted"]);
  sent[name] = hash;
}

/** An offered transaction with the agent's signature. */
function signed({ serialized }: UnsignedTransactionAnswer): Promise<Hex> {
  return agent.signTransaction(parseTransaction(serialized as Hex));
}

/** Declares tests of what an agent can sign to repair what went wrong. */
export function describeRetry({ kit, startMining, reachHead, createCaller }: ReportStand): void {
  let caller: Awaited<ReturnType<ReportStand["createCaller"]>>;
  beforeAll(async () => {
    caller = await createCaller();
    await until({ what: "reports are answered" }, async () =>
      (await caller.ask(`/retry/${AGENT}`)).status === 200 ? true : null,
    );
  });

  const protection = (search = "") => caller.read<ProtectAnswer>(`/agent/protect/${AGENT}${search}`);

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
      const { offers, simulated_at, simulated_in_order } = await caller.read<RetryAnswer>(`/retry/${AGENT}`);
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
      expect(simulated_in_order).toBe(true);
    });

    test("lists all not_retried with the reason", async () => {
      const { not_retried } = await caller.read<RetryAnswer>(`/retry/${AGENT}`);
      const byHash = new Map(not_retried.map((other) => [other.failure.hash, other]));
      expect(byHash.get(sent.refused ?? "")).toMatchObject({
        reason: "simulation_fails",
        detail: "Repeated now, it fails: not today",
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
      const { offers } = await caller.read<RetryAnswer>(`/retry/${AGENT}`);
      for (const { transaction } of offers) expect(await signAndSend(transaction)).toBe("0x1");
      await reachHead();
      const after = await caller.read<RetryAnswer>(`/retry/${AGENT}`);
      expect(after.offers).toEqual([]);
      const repaired = after.not_retried
        .filter(({ reason }) => reason === "repaired")
        .map(({ failure }) => failure.hash);
      expect(new Set(repaired)).toEqual(
        new Set([...offers.map(({ failure }) => failure.hash), sent.unpaid, sent["unpaid again"]]),
      );
    });

    test("a transaction under way for the same keeps a failure from being offered, and nonces follow it", async () => {
      const { chain } = kit;
      const { repairableTarget } = chain.contracts;
      const owner = roleAccounts().deployer.address;
      await chain.send({ from: owner, to: repairableTarget, data: calls.breakDown });
      await fail(chain, "broken anew", { to: repairableTarget, data: work });
      await fail(chain, "starved anew", { to: chain.contracts.keeperTarget2, data: perform, gas: 30_000n });
      await chain.send({ from: AGENT, to: repairableTarget, data: repair });
      await reachHead();
      const { offers } = await caller.read<RetryAnswer>(`/retry/${AGENT}`);
      const [first, second] = offers;
      if (first === undefined || second === undefined) throw new Error("expected two offers");
      kit.stopMining();
      const hash = await chain.rpc.request("eth_sendRawTransaction", await signed(first.transaction));
      const meanwhile = await caller.read<RetryAnswer>(`/retry/${AGENT}`);
      await chain.tick();
      startMining();
      expect(meanwhile.pending_transactions).toBe(1);
      expect(meanwhile.not_retried.find(({ by }) => by === hash)).toMatchObject({
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
      const plan = await protection("?webhook_url=https://1.1.1.1/hook");
      expect(plan.monitoring).toMatchObject({
        webhook_url: "https://1.1.1.1/hook",
        secret: expect.stringMatching(/^whsec_/),
      });
      const signable = plan.steps.filter(({ transaction }) => transaction !== null);
      expect(signable.map(({ kind, transaction }) => `${kind} ${transaction?.to}`).toSorted()).toEqual(
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
      const asked = { to: dai, data: calls.askAllowance };
      expect(BigInt((await kit.chain.rpc.request("eth_call", asked, "latest")) as Hex)).toBe(0n);
      await reachHead();
      const after = await protection();
      expect(after.steps.filter(({ transaction }) => transaction !== null)).toEqual([]);
    });

    test("refuses a webhook_url on this machine without a charge", async () => {
      const poor = await createCaller(25_000);
      const refused = await poor.ask(`/agent/protect/${AGENT}?webhook_url=https://127.0.0.1/hook`);
      expect(refused.status).toBe(422);
      expect(await readBalance(kit.db, poor.id)).toBe(25_000);
    });
  });
}
