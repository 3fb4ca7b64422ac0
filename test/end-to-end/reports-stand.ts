import { beforeAll, expect } from "vitest";
import type { TestIndexer, TestServer } from "../support/anvil-testkit/services.ts";
import { type Testkit, useTestkit } from "../support/anvil-testkit/testkit.ts";
import { createTestKey } from "../support/test-keys.ts";

/** Past finality, and fewer than the states that the node keeps. */
const FINAL_BLOCKS = 40;

export type ReportStand = ReturnType<typeof useReportStand>;

/** An API whose index holds the given pasts, made one after another, on a chain that goes on mining by itself. */
export function useReportStand(ageDays: number, pasts: readonly ((kit: Testkit) => Promise<void>)[]) {
  const kit = useTestkit({ ageSeconds: ageDays * 86_400 });
  let server: TestServer;
  let indexer: TestIndexer;
  beforeAll(async () => {
    for (const make of pasts) await make(kit);
    await kit.chain.toWallClock();
    await kit.chain.mine(FINAL_BLOCKS, 0);
    indexer = await kit.startIndexer();
    kit.startWorker();
    server = await kit.startServer();
    startMining();
  }, 420_000);
  const startMining = () => kit.startMining(1_000);
  return {
    kit,
    startMining,
    /** Resolves once the index holds the head of the chain. */
    reachHead: async () => indexer.reach(await kit.chain.head()),
    /** A caller with a key of its own; a balance of null is unlimited. */
    createCaller: async (balance: number | null = null) => {
      const { id, secret } = await createTestKey(kit.db, balance);
      const ask = (path: string, method = "GET") =>
        fetch(`${server.baseUrl}${path}`, { method, headers: { "x-api-key": secret } });
      return {
        id,
        ask,
        /** The body of an answer, which has to be 200. */
        read: async <Body>(path: string, method = "GET"): Promise<Body> => {
          const response = await ask(path, method);
          expect([path, response.status]).toEqual([path, 200]);
          return (await response.json()) as Body;
        },
      };
    },
  };
}
