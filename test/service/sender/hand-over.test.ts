import pino from "pino";
import { Registry } from "prom-client";
import { type Hex, numberToHex, RpcRequestError } from "viem";
import { afterEach, expect, test } from "vitest";
import { senderTransaction } from "../../../service/db/tables/publish.ts";
import { type HandOverContext, handOverPass, readFormerSenders } from "../../../service/sender/hand-over.ts";
import { createSenderMetrics } from "../../../service/sender/send-metrics.ts";
import type { SenderRpc } from "../../../service/sender/send-rpc.ts";
import { useDatabase } from "../../support/test-database.ts";
import { CHAIN_ID, testPolicy } from "./sender-under-test.ts";

const [FORMER, NEXT] = [`0x${"f0".repeat(20)}`, `0x${"f1".repeat(20)}`] as const;
const PURPOSES = ["publish", "enrol"] as const;
const NO_FUNDS = { code: -32000, message: "insufficient funds for gas" };
const LONG_AGO = new Date(Date.now() - 3_600_000);

const db = useDatabase();
afterEach(async () => {
  await db.delete(senderTransaction);
});

/** A node whose pool has what it took; nothing is mined beyond `mined` transactions. */
function nodeWith(of: { readonly mined: number; readonly takes: boolean }) {
  const pool = new Set<number>();
  const offered: number[] = [];
  const rpc: SenderRpc = {
    head: async () => ({ number: 100, hash: "0x64", baseFeePerGas: 1n }),
    nonceAt: async (_address, block) => {
      let next = of.mined;
      while (block === "pending" && pool.has(next)) next += 1;
      return next;
    },
    balance: async () => 0n,
    priorityFeePerGas: async () => 1n,
    estimateGas: async () => 21_000n,
    broadcast: async (raw) => {
      offered.push(Number(raw));
      if (!of.takes) throw new RpcRequestError({ body: {}, url: "", error: NO_FUNDS });
      pool.add(Number(raw));
    },
    receipt: async () => null,
  };
  return { rpc, pool, offered };
}

const pass = (rpc: SenderRpc, changes: Partial<HandOverContext> = {}) =>
  handOverPass({
    chainId: CHAIN_ID,
    from: FORMER,
    to: NEXT,
    purposes: PURPOSES,
    exclusive: ["publish"],
    holdsRole: async () => true,
    hasLostRole: async () => true,
    rpc,
    db,
    policy: testPolicy,
    metrics: createSenderMetrics(new Registry()),
    logger: pino({ level: "silent" }),
    now: () => new Date(),
    ...changes,
  });

type Row = Partial<typeof senderTransaction.$inferInsert>;

const put = (reference: string, row: Row = {}) =>
  db.insert(senderTransaction).values({
    chainId: CHAIN_ID,
    sender: FORMER,
    reference,
    purpose: "enrol",
    to: NEXT,
    data: "0x",
    value: 0n,
    state: "queued",
    hashes: [],
    ...row,
  });

/** Signed by the former key and handed to a node an hour ago; its bytes are its nonce. */
function putSigned(purpose: (typeof PURPOSES)[number], nonce: number) {
  const raw: Hex = numberToHex(nonce);
  const fees = { gasLimit: 21_000n, maxFeePerGas: 2n, maxPriorityFeePerGas: 1n };
  const broadcast = { state: "broadcast", broadcastAt: LONG_AGO, broadcastBlock: 50 } as const;
  return put(`${purpose}:${nonce}`, { purpose, nonce, raw, hashes: [raw], ...fees, ...broadcast });
}

async function states() {
  const rows = await db.select().from(senderTransaction).orderBy(senderTransaction.id);
  return rows.map(
    ({ reference, sender, state }) => `${reference} ${sender === NEXT ? "next" : "former"} ${state}`,
  );
}

test("does not leave a transaction queued for the former key that the new key sends already", async () => {
  await put("a");
  await put("a", { sender: NEXT, state: "broadcast" });
  await put("b");
  await pass(nodeWith({ mined: 0, takes: true }).rpc);
  expect(await states()).toEqual(["a former failed", "a next broadcast", "b next queued"]);
  expect(await readFormerSenders(db, { chainId: CHAIN_ID, purposes: PURPOSES, present: NEXT })).toEqual([]);
});

test("leaves to the former key what a contract takes from it alone", async () => {
  const references = ["x/auth-capture/end", "x/batch-settlement/collect", "x/batch-settlement/settle", "x"];
  for (const reference of references) await put(reference);
  await pass(nodeWith({ mined: 0, takes: true }).rpc);
  expect(await states()).toEqual([
    "x/auth-capture/end former queued",
    "x/batch-settlement/collect former queued",
    "x/batch-settlement/settle next queued",
    "x next queued",
  ]);
});

test("offers an abandoned transaction once more, so that later ones can be mined", async () => {
  await putSigned("publish", 5);
  await putSigned("enrol", 6);
  const node = nodeWith({ mined: 5, takes: true });
  await pass(node.rpc);
  expect(await states()).toEqual(["publish:5 former failed", "enrol:6 former broadcast"]);
  expect([...node.pool]).toEqual([5, 6]);
  await db.update(senderTransaction).set({ broadcastAt: LONG_AGO });
  await pass(node.rpc);
  expect(await states()).toEqual(["publish:5 former failed", "enrol:6 former broadcast"]);
});

test("gives up transactions behind a nonce that stays unused, for the next key to send", async () => {
  await putSigned("publish", 5);
  await putSigned("enrol", 6);
  await putSigned("enrol", 7);
  const node = nodeWith({ mined: 5, takes: false });
  await pass(node.rpc);
  expect(node.offered).toEqual([5, 6, 7]);
  expect(await states()).toEqual([
    "publish:5 former failed",
    "enrol:6 former failed",
    "enrol:7 former failed",
  ]);
});

test("waits with a transaction that has only ours below it, however long the node refuses them", async () => {
  await putSigned("enrol", 5);
  await putSigned("enrol", 6);
  await pass(nodeWith({ mined: 5, takes: false }).rpc);
  expect(await states()).toEqual(["enrol:5 former broadcast", "enrol:6 former broadcast"]);
});

test("a key that does not hold the role takes nothing over from the one that may", async () => {
  await put("a");
  await putSigned("publish", 5);
  const node = nodeWith({ mined: 5, takes: true });
  await pass(node.rpc, { holdsRole: async () => false });
  expect(await states()).toEqual(["a former queued", "publish:5 former broadcast"]);
  expect(node.offered).toEqual([]);
});
