import { describe, expect, it } from "vitest";
import { NodeFailure } from "../../../../service/chain/node/failure.ts";
import type { CallOutcomes } from "../../../../service/reports/recovery/failed-calls.ts";
import type { RecoveryNode } from "../../../../service/reports/recovery/recovery-node.ts";
import { bodyOf, fakeApp, fakeLedger, WALLET, WALLET_EIP55, WITH_KEY } from "../fake-ports.ts";
import { failedCall, fakeRecovery, TARGET, WORK, walletState } from "./fake-recovery.ts";

const PATH = `/retry/${WALLET}`;
const LATER = failedCall({ hash: `0x${"5c".repeat(32)}`, block: 950 });

async function retry(node: Partial<RecoveryNode> = {}, outcomes: Partial<CallOutcomes> = {}) {
  const fake = fakeApp({ recovery: fakeRecovery(node, outcomes) }, fakeLedger({ balanceUnits: 10_000 }));
  const response = await fake.app.request(PATH, WITH_KEY);
  return { ...fake, response, body: await bodyOf<Record<string, unknown>>(response) };
}

describe("GET /retry/{address}", () => {
  it("answers an unsigned transaction for a failure that would pass, for ten dollars", async () => {
    const { response, body, keys, read } = await retry();
    expect(response.status).toBe(200);
    expect(body).toMatchObject({
      address: WALLET_EIP55,
      chain_id: 31337,
      as_of_block: 1000,
      window: { days: 30 },
      account: "eoa",
      simulated_at: { block: 1000 },
      pending_transactions: 0,
      failures_found: 1,
      ...{ charged: true, summary: "1 transaction failed in the last 30 days; 1 can be repeated now." },
      offers: [
        {
          failure: { hash: failedCall().hash, cause: "reverted", intent: "other" },
          transaction: {
            type: "eip1559",
            chainId: 31337,
            nonce: 7,
            data: WORK,
            value: "0",
            gas: "60125",
            maxFeePerGas: "100014000",
            maxPriorityFeePerGas: "100000000",
            serialized: expect.stringMatching(/^0x02/),
          },
          simulation: { passes: true, block: 1000, gas_estimate: "48100" },
          max_cost_wei: (60_125n * 100_014_000n).toString(),
        },
      ],
      not_retried: [],
      total_max_cost_wei: (60_125n * 100_014_000n).toString(),
    });
    expect(keys.balance()).toBe(0);
    expect(read).toEqual([WALLET]);
  });

  it("lists what is not offered with the reason, and charges nothing where nothing is offered", async () => {
    const { body, keys } = await retry({}, { successes: [LATER] });
    expect([keys.balance(), keys.states()]).toEqual([10_000, []]);
    expect(body).toMatchObject({
      charged: false,
      summary: "1 transaction failed in the last 30 days; none can be repeated now. Nothing was charged.",
      offers: [],
      not_retried: [{ reason: "repaired", by: LATER.hash, failure: { hash: failedCall().hash } }],
    });
  });

  it("numbers offers after what is pending", async () => {
    const underWay = [{ hash: LATER.hash, to: TARGET, input: "0x12345678", value: 0n } as const];
    const state = walletState({ pendingNonce: 8, underWay });
    const { body } = await retry({ wallet: async () => state });
    expect(body).toMatchObject({ pending_transactions: 1, offers: [{ transaction: { nonce: 8 } }] });
  });

  it("offers nothing for a contract wallet", async () => {
    const { body } = await retry({ wallet: async () => walletState({ account: "smart_account" }) });
    expect(body).toMatchObject({
      account: "smart_account",
      offers: [],
      not_retried: [{ reason: "contract_wallet" }],
    });
  });

  it.each<[string, Partial<RecoveryNode>]>([
    [
      "does not answer",
      {
        wallet: async () => {
          throw new NodeFailure("unreachable", "http://user:secret@node");
        },
      },
    ],
    ["lags behind the index", { block: async () => null }],
  ])("costs nothing while the node %s, and says so before anything is charged", async (_name, node) => {
    const { response, body, keys } = await retry(node);
    expect(response.status).toBe(503);
    expect(body).toMatchObject({ type: "/docs#problem-node-unavailable" });
    expect(JSON.stringify(body)).not.toContain("secret");
    expect(response.headers.get("retry-after")).toBe("10");
    expect([keys.balance(), keys.states()]).toEqual([10_000, []]);
  });

  it("charges nothing where the node fails during the simulations", async () => {
    const { response, keys } = await retry({
      attempt: async () => {
        throw new NodeFailure("unreachable", "gone");
      },
    });
    expect(response.status).toBe(503);
    expect([keys.balance(), keys.states()]).toEqual([10_000, []]);
  });

  it("costs nothing where the deployment names no node", async () => {
    const recovery = { ...fakeRecovery(), openNode: null };
    const { app, keys } = fakeApp({ recovery }, fakeLedger({ balanceUnits: 10_000 }));
    expect((await app.request(PATH, WITH_KEY)).status).toBe(503);
    expect(keys.balance()).toBe(10_000);
  });
});
