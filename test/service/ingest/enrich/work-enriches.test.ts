import { type Address, encodeFunctionData } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { localTokenAbi } from "../../../../devnet/abi/local-token.ts";
import { bootTestkit, type Testkit } from "../../../support/anvil-testkit/testkit.ts";
import { until } from "../../../support/until.ts";

const WALLET: Address = `0x${"a1".repeat(20)}`;
/** Blocks after which the local index takes a block as final. */
const FINALITY = 30;

let kit: Testkit;

beforeAll(async () => {
  kit = await bootTestkit();
});
afterAll(() => kit.close());

test("the worker enriches what the real index holds as final", async () => {
  const { chain, db } = kit;
  const registered = await chain.register(WALLET);
  const { usdc, smartWallet } = chain.contracts;
  const data = encodeFunctionData({ abi: localTokenAbi, functionName: "approve", args: [smartWallet, 7n] });
  const approved = await chain.send({ from: WALLET, to: usdc, data });
  const failed = await chain.revert(WALLET);
  await chain.mine(FINALITY + 5);
  const indexer = await kit.startIndexer();
  await indexer.reach(await chain.head());
  kit.startWorker();
  await until({ what: "the cursor passes the calls" }, async () => {
    const { rows } = await db.$client.query("select 1 from ahs.enrich_cursor where block >= $1", [
      failed.blockNumber,
    ]);
    return rows[0] ?? null;
  });
  const calls = await db.$client.query("select hash, wallet, ok, effect from ahs.own_call order by block");
  expect(calls.rows).toEqual([
    { hash: registered.hash, wallet: WALLET, ok: true, effect: "other" },
    { hash: approved.hash, wallet: WALLET, ok: true, effect: "approval" },
    { hash: failed.hash, wallet: WALLET, ok: false, effect: "none" },
  ]);
  const approvals = await db.$client.query("select token, amount, owner, own from ahs.enrich_approval");
  expect(approvals.rows).toEqual([{ token: usdc.toLowerCase(), amount: "7", owner: WALLET, own: true }]);
  const sampled = await db.$client.query(
    `select min(block)::int as first, max(block)::int - count(*)::int + 1 as same from ahs.enrich_block`,
  );
  expect(sampled.rows).toEqual([{ first: registered.blockNumber, same: registered.blockNumber }]);
});
