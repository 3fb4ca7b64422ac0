import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createPublicClient, http } from "viem";
import { afterAll, beforeAll } from "vitest";
import { roleAccounts } from "../../../devnet/accounts.ts";
import { usdCoinAbi } from "../../../service/chain/abi/usd-coin.ts";
import { writeDeployment } from "../../../service/chain/deployments.ts";
import { createTestDatabase, openMigrated } from "../test-database.ts";
import { startTestChain } from "./chain.ts";
import type { Script } from "./script.ts";
import { type ServiceOptions, startIndexer, startServer, startWorker } from "./services.ts";

export type Testkit = Awaited<ReturnType<typeof bootTestkit>>;

/** Options of a process that replace those of the kit. */
type Own = Partial<ServiceOptions>;

/** A chain with the contracts, whose genesis lies `ageSeconds` back, and an empty, migrated database. */
export async function bootTestkit({ ageSeconds = 0 } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "ahs-testkit-"));
  const [chain, database] = await Promise.all([startTestChain(ageSeconds), createTestDatabase()]);
  const deploymentFile = join(folder, "deployment.json");
  writeDeployment(deploymentFile, chain.deployment);
  const db = openMigrated(database.url);

  const options = { folder, databaseUrl: database.url, rpcUrl: chain.rpcUrl, deploymentFile };
  const ends: (() => unknown)[] = [];
  const stopLater = <Started extends Script>(script: Started): Started => {
    ends.push(script.stop);
    return script;
  };
  let mining: NodeJS.Timeout | undefined;
  let mined: Promise<unknown> = Promise.resolve();
  ends.push(async () => {
    clearInterval(mining);
    await mined;
  });
  return {
    ...options,
    chain,
    db,
    /** Starts `ahs index`, and waits until it holds the head of the chain. A process that still runs at the end is stopped. */
    startIndexer: async (own: Own = {}) => {
      const indexer = stopLater(await startIndexer({ ...options, ...own }));
      await indexer.reach(await chain.head());
      return indexer;
    },
    startWorker: (own: Own = {}) => stopLater(startWorker({ ...options, ...own })),
    startServer: async (own: Own = {}, port?: number) =>
      stopLater(await startServer({ ...options, ...own }, port)),
    /** Mines so many blocks again and again, until it is stopped. */
    startMining: (everyMs: number, blocks = 1): void => {
      clearInterval(mining);
      mining = setInterval(() => {
        const more = blocks === 1 ? chain.tick() : chain.mine(blocks, 0);
        mined = mined.then(() => more);
      }, everyMs);
    },
    stopMining: () => clearInterval(mining),
    /** The payee's USDC, in millionths of a US dollar. */
    received: () =>
      createPublicClient({ transport: http(chain.rpcUrl) }).readContract({
        address: chain.contracts.usdc,
        abi: usdCoinAbi,
        functionName: "balanceOf",
        args: [roleAccounts().payee.address],
      }),
    /** Registers what is to be ended before database and chain, newest first. */
    onClose: (end: () => unknown): void => void ends.push(end),
    close: async () => {
      for (const end of ends.reverse()) await end();
      await db.$client.end();
      await Promise.all([chain.stop(), database.drop()]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Boots a testkit before the tests of a file and closes it after them; its members are there from the first hook on. */
export function useTestkit(options: Parameters<typeof bootTestkit>[0] = {}): Testkit {
  // Filled by the hook.
  const kit = {} as Testkit;
  beforeAll(async () => void Object.assign(kit, await bootTestkit(options)));
  afterAll(() => kit.close?.());
  return kit;
}
