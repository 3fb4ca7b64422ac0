import { type Address, decodeFunctionData, erc20Abi, erc721Abi, type Hex } from "viem";
import { describe, expect, it } from "vitest";
import type { OpenApproval } from "../../../../service/model/features/types.ts";
import { openRecovery } from "../../../../service/reports/recovery/open-recovery.ts";
import type { RecoveryNode, WalletState } from "../../../../service/reports/recovery/recovery-node.ts";
import {
  planRevocations,
  readOpenApprovals,
  settleRevocations,
  tryRevocations,
} from "../../../../service/reports/recovery/revoke-approvals.ts";
import { WALLET } from "../../api/fake-ports.ts";
import { fakeNode, fakeRecovery, walletState } from "../../api/routes/fake-recovery.ts";

const SPENDER: Address = "0x00000000000000000000000000000000000000d1";
const TOKEN: Address = "0x00000000000000000000000000000000000000a1";
const COLLECTION: Address = "0x00000000000000000000000000000000000000c1";

const amount: OpenApproval = { token: TOKEN, spender: SPENDER, kind: "amount", approvedAt: 1 };
const all: OpenApproval = { token: COLLECTION, spender: SPENDER, kind: "all", approvedAt: 2 };

async function revoke(node: Partial<RecoveryNode> = {}, state: Partial<WalletState> = {}) {
  const whole = { wallet: async () => walletState(state), ...node };
  const recovery = await openRecovery(WALLET, fakeRecovery(whole));
  const open = await readOpenApprovals(recovery, fakeNode(whole), [amount, all]);
  const tried = await tryRevocations(
    recovery,
    fakeNode(whole),
    open.map(({ approval }) => approval),
  );
  const revocations = await settleRevocations(recovery, fakeNode(whole), tried);
  return { ...revocations, open };
}

describe("taking approvals back", () => {
  it("allows a spender nothing, and an operator none of a collection, in consecutive transactions", async () => {
    const { open, transactions, cost } = await revoke({ holding: async () => 5n });
    expect(transactions.map(({ nonce, to, value }) => [nonce, to, value])).toEqual([
      [7, TOKEN, 0n],
      [8, COLLECTION, 0n],
    ]);
    expect(decoded(erc20Abi, transactions[0]?.data)).toEqual(["approve", [expectAddress(SPENDER), 0n]]);
    expect(decoded(erc721Abi, transactions[1]?.data)).toEqual([
      "setApprovalForAll",
      [expectAddress(SPENDER), false],
    ]);
    expect(open.map(({ exposed }) => exposed)).toEqual([5n, null]);
    expect(cost).toBe(transactions.reduce((sum, { gas, maxFeePerGas }) => sum + gas * maxFeePerGas, 0n));
  });

  it("leaves out what was taken back since", async () => {
    const { list } = await revoke({
      holding: async (_owner, { spender }) => (spender === null ? 5n : 0n),
      approvesAll: async () => false,
    });
    expect(list).toEqual([]);
  });

  it("says what keeps it from being done, and gives the nonce to the next", async () => {
    const { list, transactions } = await revoke({
      attempt: async ({ to }) =>
        to === TOKEN ? { kind: "fails", reason: "paused" } : { kind: "passes", gas: 30_000n, l1Fee: 0n },
    });
    expect(list[0]?.outcome).toEqual({ kind: "refused", detail: "The revocation fails: paused" });
    expect(transactions.map(({ nonce, to }) => [nonce, to])).toEqual([[7, COLLECTION]]);
  });

  it("tries thirty at once, and names the others", async () => {
    const many = Array.from({ length: 32 }, (_, place) => ({ ...all, approvedAt: place }));
    const recovery = await openRecovery(WALLET, fakeRecovery());
    const tried = await tryRevocations(recovery, fakeNode(), many);
    const { list, transactions } = planRevocations(recovery, tried);
    expect([list.length, transactions.length]).toEqual([32, 30]);
    expect(list.at(-1)?.outcome).toMatchObject({ kind: "refused" });
  });

  it("reads what each token is worth before any is left out, a balance once", async () => {
    const many = Array.from({ length: 40 }, (_, place) => ({ ...amount, approvedAt: place }));
    const recovery = await openRecovery(WALLET, fakeRecovery());
    const asked: unknown[] = [];
    const node = fakeNode({
      holding: async (_owner, query) => {
        asked.push(query.spender);
        return 5n;
      },
    });
    const open = await readOpenApprovals(recovery, node, many);
    expect(open.map(({ exposed }) => exposed)).toEqual(many.map(() => 5n));
    expect(asked.filter((spender) => spender === null)).toHaveLength(1);
  });

  it.each<[bigint, string]>([
    [160_000n, "ready"],
    [160_001n, "refused"],
    [24_000_000n, "refused"],
  ])("of a token whose code burns %s gas is %s", async (gas, outcome) => {
    const { list, transactions } = await revoke({
      attempt: async ({ to }) => ({ kind: "passes", gas: to === TOKEN ? gas : 30_000n, l1Fee: 0n }),
    });
    expect(list[0]?.outcome.kind).toBe(outcome);
    expect(transactions.every((transaction) => transaction.gas <= 200_000n)).toBe(true);
    expect(transactions.at(-1)?.to).toBe(COLLECTION);
  });

  it("leaves out what fails after the others, and simulates the rest anew", async () => {
    const { list, transactions, simulatedInOrder } = await revoke({
      simulateSequence: async (calls) => calls.map(({ to }) => (to === COLLECTION ? "locked" : null)),
    });
    expect(list.map(({ outcome }) => outcome.kind)).toEqual(["ready", "refused"]);
    expect(list[1]?.outcome).toMatchObject({ detail: expect.stringContaining("locked") });
    expect([transactions.map(({ nonce }) => nonce), simulatedInOrder]).toEqual([[7], true]);
  });

  it("claims no simulation where the node has none", async () => {
    expect((await revoke({ simulateSequence: async () => null })).simulatedInOrder).toBe(false);
    expect((await revoke()).simulatedInOrder).toBe(true);
  });

  it("stops where the balance ends", async () => {
    const one = 60_125n * 100_014_000n;
    const { list, transactions } = await revoke({}, { balance: one });
    expect(transactions).toHaveLength(1);
    expect(list[1]?.outcome).toMatchObject({
      kind: "refused",
      detail: expect.stringContaining("0 are left"),
    });
  });

  it("offers no transaction for a wallet that no key signs for", async () => {
    const { list, transactions } = await revoke({}, { account: "smart_account" });
    expect(transactions).toEqual([]);
    expect(list.map(({ outcome }) => outcome.kind)).toEqual(["refused", "refused"]);
  });
});

function decoded(abi: typeof erc20Abi | typeof erc721Abi, data: Hex | undefined): unknown {
  if (data === undefined) throw new Error("no calldata");
  const { functionName, args } = decodeFunctionData({ abi, data });
  return [functionName, [...(args ?? [])].map((arg) => (typeof arg === "string" ? arg.toLowerCase() : arg))];
}

function expectAddress(address: Address): string {
  return address.toLowerCase();
}
