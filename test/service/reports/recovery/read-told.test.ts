import { numberToHex } from "viem";
import { describe, expect, it } from "vitest";
import { NodeFailure } from "../../../../service/reports/recovery/ask-node.ts";
import { readTold } from "../../../../service/reports/recovery/read-told.ts";
import type { MinedTransaction } from "../../../../service/reports/recovery/read-transaction.ts";
import type { RecoveryNode, WalletState } from "../../../../service/reports/recovery/recovery-node.ts";
import type { ToldCall, ToldOutcomes } from "../../../../service/reports/recovery/told-calls.ts";
import { WALLET } from "../../api/fake-ports.ts";
import {
  BLOCK,
  callOutcomes,
  failedCall,
  fakeNode,
  toldFailure,
  toldOutcomes,
} from "../../api/recovery/fake-recovery.ts";

const DAY = 86_400;

const mined = (call: ToldCall, changes: Partial<MinedTransaction> = {}): MinedTransaction => ({
  ...{ hash: call.hash, from: WALLET, to: call.to, value: call.value, block: call.block },
  ...{ nonce: 3, input: "0x322e9f04" },
  ...changes,
});

type World = {
  readonly told?: Partial<ToldOutcomes>;
  readonly account?: WalletState["account"];
  readonly transaction?: RecoveryNode["transaction"];
};

function read({ told = {}, account = "eoa", transaction = async () => mined(toldFailure()) }: World) {
  const known = { wallet: WALLET, state: { account }, block: BLOCK };
  const outcomes = callOutcomes({ told: toldOutcomes(told) });
  return readTold(fakeNode({ transaction }), { ...known, outcomes });
}

describe("a failure that only a history source told of", () => {
  it("has its calldata and nonce from the node, and its place among the others", async () => {
    const { outcomes, unread } = await read({});
    expect(outcomes.failures).toEqual([failedCall(), { ...toldFailure(), nonce: 3, input: "0x322e9f04" }]);
    expect(unread).toEqual([]);
  });

  it.each<[string, World, string]>([
    ["that the node does not know", { transaction: async () => null }, "not_read"],
    [
      "of whose hash the node has another's transaction",
      { transaction: async () => mined(toldFailure(), { from: `0x${"77".repeat(20)}` }) },
      "not_read",
    ],
    [
      "that the node has in another block",
      { transaction: async () => mined(toldFailure(), { block: 801 }) },
      "not_read",
    ],
    ["before a gap that nobody tells of", { told: { meetsIndex: false } }, "maybe_repaired"],
    ["of a wallet that runs another's code", { account: "delegated_eoa" }, "maybe_repaired"],
    ["of a contract wallet", { account: "smart_account" }, "contract_wallet"],
    ["before too many told successes to read", { told: { completeFrom: 801 } }, "history_too_long"],
    [
      "of 15 days ago",
      { told: { failures: [toldFailure({ timestamp: BLOCK.timestamp - 15 * DAY })] } },
      "too_old",
    ],
  ])("%s stays unread, with the reason", async (_name, world, code) => {
    const { outcomes, unread } = await read(world);
    expect(outcomes.failures).toEqual([failedCall()]);
    expect(unread).toMatchObject([{ call: { hash: toldFailure().hash }, code }]);
  });

  it("is asked for among the newest thirty only", async () => {
    const failures = Array.from({ length: 35 }, (_, place) =>
      toldFailure({ hash: numberToHex(place + 1, { size: 32 }), block: 800 - place }),
    );
    const asked: string[] = [];
    const { outcomes, unread } = await read({
      told: { failures },
      transaction: async (hash) => {
        asked.push(hash);
        const call = failures.find((failure) => failure.hash === hash);
        return call === undefined ? null : mined(call);
      },
    });
    expect(asked.toSorted()).toEqual(failures.slice(0, 30).map(({ hash }) => hash));
    expect(outcomes.failures).toHaveLength(31);
    expect(unread.map(({ call, code }) => [call.hash, code])).toEqual(
      failures.slice(30).map(({ hash }) => [hash, "not_tried"]),
    );
  });

  it("leaves no answer where the node gives none", async () => {
    const transaction = async () => {
      throw new NodeFailure("deadline", "too late");
    };
    await expect(read({ transaction })).rejects.toMatchObject({ name: "NodeFailure", kind: "deadline" });
  });
});
