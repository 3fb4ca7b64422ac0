import { type Address, encodeFunctionData, erc20Abi, type Hex, numberToHex } from "viem";
import { describe, expect, it } from "vitest";
import { NodeFailure } from "../../../../service/chain/node/failure.ts";
import { AHS_2026_2 } from "../../../../service/model/score/policy.ts";
import { causeOf as healthCause } from "../../../../service/reports/diagnosis/failures.ts";
import type { CallOutcomes, FailedCall } from "../../../../service/reports/recovery/failed-calls.ts";
import { openRecovery } from "../../../../service/reports/recovery/open-recovery.ts";
import {
  causeOf,
  NOTHING_BEFORE,
  recoverFailures,
} from "../../../../service/reports/recovery/recover-failures.ts";
import type { RecoveryNode } from "../../../../service/reports/recovery/recovery-node.ts";
import { WALLET } from "../../api/fake-ports.ts";
import {
  BLOCK,
  callOutcomes,
  failedCall,
  fakeNode,
  fakeRecovery,
  TARGET,
  walletState,
} from "../../api/routes/fake-recovery.ts";
import { callsOf } from "../../model/features/histories.ts";

const BOUNDS = { before: NOTHING_BEFORE, policy: AHS_2026_2 };
const TOKEN: Address = "0x00000000000000000000000000000000000000a1";

/** Failures that bring about different things, newest first. */
const failures = (count: number): readonly FailedCall[] =>
  Array.from({ length: count }, (_, place) =>
    failedCall({
      hash: numberToHex(count - place, { size: 32 }),
      block: 900 - place,
      input: numberToHex(0xaabbcc00 + place, { size: 4 }),
    }),
  );

async function recover(node: Partial<RecoveryNode>, outcomes: Partial<CallOutcomes> = {}) {
  const recovery = await openRecovery(WALLET, fakeRecovery(node, outcomes));
  return recoverFailures(recovery, fakeNode(node), BOUNDS);
}

describe("recovering failures", () => {
  it("tries each at the newest indexed block, as it was sent", async () => {
    const tried: unknown[] = [];
    await recover({
      attempt: async (call, block) => {
        tried.push([call, block]);
        return { kind: "passes", gas: 30_000n, l1Fee: 0n };
      },
    });
    const { to, input: data, value } = failedCall();
    expect(tried).toEqual([[{ from: WALLET, to, data, value }, BLOCK]]);
  });

  it("lists what does not pass with what the simulation says, and the cause by what the contract said then", async () => {
    const { offers, refused } = await recover({
      attempt: async () => ({ kind: "fails", reason: "still broken" }),
      replay: async () => ({ reason: "Too little received", isSlippage: true }),
    });
    expect(offers).toEqual([]);
    expect(refused).toMatchObject([
      {
        code: "simulation_fails",
        detail: "Repeated now, it fails: still broken",
        cause: { kind: "slippage" },
      },
    ]);
  });

  it("does not offer calldata for an account without code", async () => {
    const { refused } = await recover({ attempt: async () => ({ kind: "no_code" }) });
    expect(refused).toMatchObject([{ code: "target_gone" }]);
  });

  it("asks for tokens and allowances that the passing calls spend, each once", async () => {
    const transferFrom = encodeFunctionData({
      abi: erc20Abi,
      functionName: "transferFrom",
      args: [WALLET, TARGET, 5n],
    });
    const asked: unknown[] = [];
    const { refused } = await recover(
      {
        holding: async (_owner, query) => {
          asked.push(query);
          return query.spender === null ? 100n : 4n;
        },
      },
      { failures: [failedCall({ to: TOKEN, input: transferFrom })] },
    );
    expect(asked).toEqual([
      { token: TOKEN, spender: null },
      { token: TOKEN, spender: WALLET },
    ]);
    expect(refused).toMatchObject([{ code: "insufficient_allowance" }]);
  });

  it("leaves out what fails once the others went before, and numbers the rest anew", async () => {
    const spoiled = failures(3)[1]?.input;
    const { offers, refused, simulatedInOrder } = await recover(
      {
        simulateSequence: async (calls) =>
          calls.map(({ data }) => (data === spoiled ? "no room left" : null)),
      },
      { failures: failures(3) },
    );
    expect(offers.map(({ transaction }) => transaction.nonce)).toEqual([7, 8]);
    expect(refused).toMatchObject([
      { call: { input: spoiled }, code: "simulation_fails", detail: expect.stringContaining("no room left") },
    ]);
    expect(simulatedInOrder).toBe(true);
  });

  it("offers one at a time of an unknown method, whatever the calldata", async () => {
    const swaps = [5, 4, 3, 2, 1].map((least) =>
      failedCall({
        hash: numberToHex(least, { size: 32 }),
        block: 900 + least,
        input: `0xaabbccdd${numberToHex(least, { size: 32 }).slice(2)}`,
      }),
    );
    const { offers, refused } = await recover({}, { failures: swaps });
    expect(offers.map(({ call }) => call.hash)).toEqual([swaps[0]?.hash]);
    expect(refused.map(({ call, code, by }) => [call.hash, code, by])).toEqual(
      swaps.slice(1).map(({ hash }) => [hash, "duplicate", swaps[0]?.hash]),
    );
    const success = failedCall({ hash: `0x${"5c".repeat(32)}`, block: 950, input: "0xaabbccdd00" });
    const repaired = await recover({}, { failures: swaps, successes: [success] });
    expect(repaired.offers).toEqual([]);
    expect(repaired.refused.map(({ code }) => code)).toEqual(swaps.map(() => "maybe_repaired"));
  });

  it("claims no simulation where what goes before fails in it", async () => {
    const recovery = await openRecovery(WALLET, fakeRecovery());
    const node = fakeNode({
      simulateSequence: async (calls) => calls.map((_, at) => (at === 0 ? "paused" : null)),
    });
    const revocation = {
      ...({ type: "eip1559", chainId: 31337, nonce: 7, to: TOKEN, data: "0x", value: 0n } as const),
      ...{ gas: 50_000n, maxFeePerGas: 1n, maxPriorityFeePerGas: 1n },
    };
    const before = { transactions: [revocation], cost: 0n, revoked: new Set<Address>() };
    expect((await recoverFailures(recovery, node, { ...BOUNDS, before })).simulatedInOrder).toBe(false);
  });

  it("says so where the node cannot simulate a row of calls", async () => {
    const { offers, simulatedInOrder } = await recover(
      { simulateSequence: async () => null },
      { failures: failures(2) },
    );
    expect([offers.length, simulatedInOrder]).toEqual([2, false]);
  });

  it("offers nothing that does not settle within a few simulations", async () => {
    const { offers, refused } = await recover(
      { simulateSequence: async (calls) => calls.map((_, place) => (place === 0 ? "never" : null)) },
      { failures: failures(8) },
    );
    expect(offers).toEqual([]);
    expect(refused).toHaveLength(8);
  });

  it("leaves room for what goes before: its nonces, its cost and what it takes back", async () => {
    const recovery = await openRecovery(WALLET, fakeRecovery({ wallet: async () => walletState() }));
    const first = {
      type: "eip1559",
      chainId: 31337,
      nonce: 7,
      to: TOKEN,
      data: "0x" as Hex,
      value: 0n,
      gas: 50_000n,
      maxFeePerGas: 1n,
      maxPriorityFeePerGas: 1n,
    } as const;
    const before = { transactions: [first], cost: 10n ** 18n, revoked: new Set<Address>() };
    const poor = await recoverFailures(recovery, fakeNode(), { ...BOUNDS, before });
    expect(poor.refused).toMatchObject([{ code: "insufficient_balance" }]);
    const rich = await recoverFailures(recovery, fakeNode(), {
      ...BOUNDS,
      before: { ...before, cost: 0n },
    });
    expect(rich.offers.map(({ transaction }) => transaction.nonce)).toEqual([8]);
    const revoking = { ...before, cost: 0n, revoked: new Set<Address>([TARGET]) };
    expect(
      (await recoverFailures(recovery, fakeNode(), { ...BOUNDS, before: revoking })).refused,
    ).toMatchObject([{ code: "approval_revoked" }]);
  });

  it("fails where the block is another one after the simulations", async () => {
    const recovery = await openRecovery(WALLET, fakeRecovery());
    const node = fakeNode({ block: async () => ({ ...BLOCK, hash: `0x${"cd".repeat(32)}` }) });
    await expect(recoverFailures(recovery, node, BOUNDS)).rejects.toMatchObject({ kind: "node_behind" });
  });
});

describe("a node that lags or lies is no node to simulate at", () => {
  it.each<[string, Partial<RecoveryNode>, NodeFailure["kind"]]>([
    ["without the newest indexed block", { block: async () => null }, "node_behind"],
    [
      "with another block in its place",
      { block: async () => ({ ...BLOCK, hash: `0x${"cd".repeat(32)}` }) },
      "node_behind",
    ],
    [
      "that knows of fewer transactions than the index",
      { wallet: async () => walletState({ nonce: 6, pendingNonce: 7 }) },
      "node_behind",
    ],
    [
      "that does not answer",
      {
        wallet: async () => {
          throw new NodeFailure("unreachable", "no answer");
        },
      },
      "unreachable",
    ],
  ])("%s", async (_name, node, kind) => {
    await expect(openRecovery(WALLET, fakeRecovery(node))).rejects.toMatchObject({ kind });
  });

  it("but one that has it a moment later is", async () => {
    let asked = 0;
    const node = { block: async () => (asked++ === 0 ? null : BLOCK) };
    expect(await openRecovery(WALLET, fakeRecovery(node))).toMatchObject({ block: BLOCK });
  });

  it("nor is a missing one", async () => {
    const ports = { ...fakeRecovery(), openNode: null };
    await expect(openRecovery(WALLET, ports)).rejects.toMatchObject({ kind: "unreachable" });
  });

  it("offers at most 500 gwei, whatever the node suggests", async () => {
    const node = { gasMarket: async () => ({ baseFeePerGas: 1n, priorityFeePerGas: 10n ** 20n }) };
    expect((await openRecovery(WALLET, fakeRecovery(node))).fees).toEqual({
      maxFeePerGas: 500_000_000_000n,
      maxPriorityFeePerGas: 500_000_000_000n,
    });
  });
});

describe("outcomes", () => {
  it("that hold no failure ask the node for nothing more", async () => {
    const node = {
      attempt: async () => {
        throw new Error("no attempt was expected");
      },
    };
    expect(await recover(node, callOutcomes({ failures: [] }))).toEqual({
      offers: [],
      refused: [],
      unread: [],
      simulatedInOrder: true,
    });
  });
});

describe("why a transaction failed", () => {
  it.each([95_000n, 96_000n, 97_999n, 98_000n, 100_000n])(
    "is what /health says of %s gas used of 100,000",
    (gasUsed) => {
      const [call] = callsOf([{ at: 0, ok: false, gasLimit: 100_000n, gasUsed }]);
      if (call === undefined) throw new Error("one step makes one call");
      expect(causeOf(call, null, AHS_2026_2).kind).toBe(healthCause(call, AHS_2026_2));
    },
  );

  it("is a moved price only where the contract says so and gas was left", () => {
    const replay = { reason: "Too little received", isSlippage: true };
    const kindOf = (gasUsed: bigint) => causeOf({ gasUsed, gasLimit: 100n }, replay, AHS_2026_2).kind;
    expect([kindOf(50n), kindOf(99n)]).toEqual(["slippage", "out_of_gas"]);
  });
});
