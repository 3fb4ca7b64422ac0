import { setTimeout as sleep } from "node:timers/promises";
import { eq } from "drizzle-orm";
import { type Address, createPublicClient, type Hex, http, numberToHex } from "viem";
import { freePort } from "../../../bin/supervisor/child-process.ts";
import { startAnvil } from "../../../devnet/anvil-process.ts";
import type { Database } from "../../../service/db/database.ts";
import { senderTransaction } from "../../../service/db/tables/publish.ts";
import { enqueueTransaction, type SenderTransaction } from "../../../service/sender/sender-transactions.ts";
import { createTestDatabase, openMigrated } from "../../support/test-database.ts";
import { CHAIN_ID, localAccount, startSender } from "./sender-under-test.ts";

const TIMEOUT_MS = 20_000;

export type SenderWorld = Awaited<ReturnType<typeof createSenderWorld>>;

/** A chain that mines only on request, a migrated database, and senders of account 1 on demand. */
export async function createSenderWorld() {
  const database = await createTestDatabase();
  const db = openMigrated(database.url);
  // An hour of chain time behind the wall clock: no block is ever ahead of it.
  const genesisTime = Math.floor(Date.now() / 1000) - 3_600;
  const anvil = await startAnvil({ port: await freePort(), chainId: CHAIN_ID, stateFile: null, genesisTime });
  const client = createPublicClient({ transport: http(anvil.rpcUrl), cacheTime: 0 });
  const senders: { stop: () => Promise<void> }[] = [];
  return {
    db,
    databaseUrl: database.url,
    rpcUrl: anvil.rpcUrl,
    client,
    request: anvil.rpc.request,
    sender: localAccount(1).address,
    mine: (blocks = 1) => anvil.rpc.request("anvil_mine", numberToHex(blocks)),
    automine: (on: boolean) => anvil.rpc.request("evm_setAutomine", on),
    reorg: (depth: number) => anvil.rpc.request("anvil_reorg", depth, []),
    /** Starts a sender of account 1, or of another; parts of its RPC can be replaced. */
    startSender: (options: Parameters<typeof startSender>[1] = {}) => {
      const sender = startSender({ databaseUrl: database.url, rpcUrl: anvil.rpcUrl }, options);
      senders.push(sender);
      return sender;
    },
    enqueue: (reference: string, call: { to: Address; data?: Hex; value?: bigint }) =>
      enqueueTransaction(db, {
        chainId: CHAIN_ID,
        sender: localAccount(1).address,
        reference,
        purpose: "test",
        to: call.to,
        data: call.data ?? "0x",
        value: call.value ?? 0n,
      }),
    rows: () => db.select().from(senderTransaction).orderBy(senderTransaction.id),
    /** Waits for a state, or a condition, of a transaction. */
    reach: (id: number, wanted: SenderTransaction["state"] | ((row: SenderTransaction) => boolean)) =>
      reach(db, id, typeof wanted === "string" ? (row) => row.state === wanted : wanted),
    destroy: async () => {
      await Promise.all(senders.map((sender) => sender.stop()));
      await db.$client.end();
      await database.drop();
      await anvil.stop();
    },
  };
}

async function reach(
  db: Database,
  id: number,
  condition: (row: SenderTransaction) => boolean,
): Promise<SenderTransaction> {
  let last: SenderTransaction | undefined;
  const row = await until(
    async () => {
      [last] = await db.select().from(senderTransaction).where(eq(senderTransaction.id, id));
      return last !== undefined && condition(last) ? last : null;
    },
    () => `transaction ${id}, last seen ${last?.state} ${last?.error ?? ""}`,
  );
  return row;
}

/** Asks until the answer is not null; throws with the description when 20 seconds have passed. */
export async function until<T>(ask: () => Promise<T | null>, describe: () => string): Promise<T> {
  const deadline = performance.now() + TIMEOUT_MS;
  for (;;) {
    const answer = await ask();
    if (answer !== null) return answer;
    if (performance.now() > deadline) throw new Error(`waited in vain for ${describe()}`);
    await sleep(20);
  }
}
