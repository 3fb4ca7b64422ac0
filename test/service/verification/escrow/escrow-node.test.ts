import { createPublicClient, custom, numberToHex, zeroHash } from "viem";
import { expect, it } from "vitest";
import { nodeTransport } from "../../../../service/chain/node/json-rpc.ts";
import { isSignedBy, readJob, readNewestBlock } from "../../../../service/verification/escrow/escrow-node.ts";
import { useDatabase } from "../../../support/test-database.ts";
import { nodeWith, type Reply, refusal, refusalWith, result } from "../../chain/node/node-stand-in.ts";

const CHAIN_ID = 31_337;
const db = useDatabase();

/** A node whose newest block that is. */
function nodeAt(number: number) {
  const block = {
    number: numberToHex(number),
    hash: `0x${"11".repeat(32)}`,
    timestamp: "0x1",
    transactions: [],
  };
  return createPublicClient({ transport: custom({ request: async () => block }) });
}

const newest = (number: number) => readNewestBlock({ db, client: nodeAt(number) }, CHAIN_ID);

it("a node that lags behind the index does not make a registration older than it is", async () => {
  expect(await newest(90)).toBe(90n);
  await db.$client.query(`
    create schema "chain_${CHAIN_ID}";
    create table "chain_${CHAIN_ID}".block (number numeric(78) primary key, "timestamp" numeric(78) not null);
    create table "chain_${CHAIN_ID}".job ();
    create table "chain_${CHAIN_ID}".verdict_event ();
    insert into "chain_${CHAIN_ID}".block values (99, 1), (100, 2)`);
  expect(await newest(90)).toBe(100n);
  expect(await newest(101)).toBe(101n);
});

const ADDRESS = `0x${"e5".repeat(20)}` as const;
const ESCROW = {
  generation: "G1",
  address: ADDRESS,
  startBlock: 0,
  codeHash: zeroHash,
  implementation: null,
} as const;

async function clientOf(replies: readonly Reply[]) {
  const { options } = await nodeWith(replies);
  return createPublicClient({ transport: nodeTransport({ ...options, retries: 0 }) });
}

const TROUBLES: [string, Reply][] = [
  ["an internal error", refusal(-32603, "Internal error")],
  [
    "no healthy node behind its proxy",
    refusalWith({ status: 503 }, -32011, "no backend is currently healthy"),
  ],
  ["a revert with a status of 502", refusalWith({ status: 502 }, 3, "execution reverted")],
  ["a missing state", refusal(-32000, "missing trie node 12 (path )")],
  ["unknown words", refusal(-32000, "not today")],
];

it.each(TROUBLES)(
  "a node with %s says neither that a job is unknown nor that a wallet did not sign",
  async (_, reply) => {
    const job = { chainId: CHAIN_ID, escrow: ADDRESS, jobId: 1n };
    const reading = readJob(await clientOf([reply]), ESCROW, { job });
    await expect(reading).rejects.toMatchObject({ name: "EscrowFailure", reason: "node" });
    const signed = { signer: ADDRESS, digest: zeroHash, signature: "0x12" } as const;
    const asking = isSignedBy(await clientOf([result("0x6001"), reply]), signed);
    await expect(asking).rejects.toMatchObject({ name: "EscrowFailure", reason: "node" });
  },
);

it.each<[string, Reply]>([
  ["reverts", refusal(3, "execution reverted")],
  ["runs out of gas", refusal(-32000, "out of gas")],
])("a contract that %s knows no such job, and did not sign", async (_, reply) => {
  const job = { chainId: CHAIN_ID, escrow: ADDRESS, jobId: 1n };
  expect(await readJob(await clientOf([reply]), ESCROW, { job })).toBeNull();
  const signed = { signer: ADDRESS, digest: zeroHash, signature: "0x12" } as const;
  expect(await isSignedBy(await clientOf([result("0x6001"), reply]), signed)).toBe(false);
});
