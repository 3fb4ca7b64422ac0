import { type Address, getAddress, type Hex, numberToHex } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { roleAccounts } from "../../devnet/accounts.ts";
import type { RetryAnswer } from "../../service/api/routes/get-retry.ts";
import { until } from "../support/anvil-testkit/script.ts";
import type { TestServer } from "../support/anvil-testkit/services.ts";
import { createTestKey } from "../support/anvil-testkit/test-keys.ts";
import { bootTestkit, type Testkit } from "../support/anvil-testkit/testkit.ts";
import { agentCalls } from "./retry-calls.ts";

/** Never registered: the index follows it only once somebody paid for its score. */
const WALLET = getAddress("0x00000000000000000000000000000000000a9e78");
const FINALITY_BLOCKS = 30;
const { work, refuse, repair, breakDown } = agentCalls(WALLET);

let kit: Testkit;
let server: TestServer;
let secret: string;
let mining: NodeJS.Timeout | undefined;
const sent: Record<string, Hex> = {};

beforeAll(async () => {
  kit = await bootTestkit({ ageSeconds: 86_400 });
  const { chain } = kit;
  const { repairableTarget, revertOnDemand } = chain.contracts;
  const owner = roleAccounts().deployer.address;
  await chain.rpc.request("anvil_setBalance", WALLET, numberToHex(10n ** 20n));
  await chain.send({ from: owner, to: repairableTarget, data: breakDown });
  await fail("broken", { to: repairableTarget, data: work });
  await fail("refused", { to: revertOnDemand, data: refuse });
  await chain.send({ from: WALLET, to: repairableTarget, data: repair });
  await chain.toWallClock();
  await chain.mine(2 * FINALITY_BLOCKS, 0);
  const indexer = await kit.startIndexer();
  await indexer.reach(await chain.head());
  kit.startWorker();
  server = await kit.startServer();
  ({ secret } = await createTestKey(kit.db, null));
  mining = setInterval(() => void chain.tick(), 500);
});

afterAll(async () => {
  clearInterval(mining);
  await kit.close();
});

async function fail(name: string, call: { to: Address; data: Hex }): Promise<void> {
  const { hash, status } = await kit.chain.send({ from: WALLET, ...call });
  expect([name, status]).toEqual([name, "reverted"]);
  sent[name] = hash;
}

function get(path: string): Promise<Response> {
  return fetch(`${server.baseUrl}${path}/${WALLET}`, { headers: { "X-API-Key": secret } });
}

async function readRow(query: string): Promise<Record<string, unknown> | null> {
  const { rows } = await kit.db.$client.query(query, [WALLET.toLowerCase()]);
  return rows[0] ?? null;
}

test("failures from before a wallet was followed are found, tried and offered like any other", async () => {
  await until({ what: "the wallet is scored", timeoutMs: 170_000 }, async () =>
    (await get("/ahs")).status === 200 ? true : null,
  );
  await until({ what: "the index meets the told history", timeoutMs: 170_000 }, () =>
    readRow(`select 1 from ahs.kept_history kept join chain_31337.wallet followed on followed.address = kept.wallet
             where kept.wallet = $1 and kept.to_block >= followed.followed_block - 1`),
  );
  const response = await until({ what: "retries are answered", timeoutMs: 170_000 }, async () => {
    const answer = await get("/retry");
    return answer.status === 200 ? answer : null;
  });
  const { coverage, failures_found, offers, others } = (await response.json()) as RetryAnswer;
  expect(coverage).toMatchObject({ from_block: 0, complete: true, sources: ["index", "otterscan"] });
  expect(failures_found).toBe(2);
  expect(offers).toMatchObject([
    { failure: { hash: sent.broken, nonce: 0 }, transaction: { nonce: 3, data: work } },
  ]);
  expect(others).toMatchObject([
    { failure: { hash: sent.refused, nonce: 1 }, reason: "simulation_fails", detail: "not today" },
  ]);
}, 240_000);
