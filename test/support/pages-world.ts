import { type Browser, chromium } from "playwright-core";
import { type Address, getAddress, numberToHex } from "viem";
import type { TestServer } from "./anvil-testkit/services.ts";
import { bootTestkit, type Testkit } from "./anvil-testkit/testkit.ts";
import { seedVerdicts } from "./seed-verdicts.ts";
import { createTestKey } from "./test-keys.ts";
import { until } from "./until.ts";

/** Everything that the pages show, and a browser to look at them. */
export type PagesWorld = {
  readonly kit: Testkit;
  readonly server: TestServer;
  readonly browser: Browser;
  /** A metered key. */
  readonly key: Awaited<ReturnType<typeof createTestKey>>;
  readonly verdicts: Awaited<ReturnType<typeof seedVerdicts>>;
};

/** Wallets with a good grade, a bad one, and none. */
export const STEADY = walletOf(1);
const FAILING = walletOf(2);
export const QUIET = walletOf(3);

const HISTORY_DAYS = 30;
const BLOCK_MS = 500;
const BALANCE = 5_000;

/** A wallet without a known key. */
export function walletOf(number: number): Address {
  return getAddress(numberToHex(0xbeef00 + number, { size: 20 }));
}

/** Starts a chain with scored wallets, the service and the browser of this path. */
export async function startPagesWorld(executablePath: string): Promise<PagesWorld> {
  const launching = chromium.launch({ executablePath, args: ["--no-sandbox"] });
  const kit = await bootTestkit({ ageSeconds: (HISTORY_DAYS + 6) * 86_400 });
  kit.onClose(async () => (await launching).close());
  try {
    return await fill(kit, await launching);
  } catch (error) {
    await kit.close();
    throw error;
  }
}

async function fill(kit: Testkit, browser: Browser): Promise<PagesWorld> {
  await makeHistory(kit);
  kit.startMining(BLOCK_MS);
  await kit.startIndexer();
  kit.startWorker();
  const server = await kit.startServer({ env: { HISTORY_SOURCE: "none", MAX_INDEX_AGE_SECONDS: "3600" } });
  const key = await createTestKey(kit.db, BALANCE);
  const verdicts = await seedVerdicts(kit.db);
  await until({ what: "both wallets have a grade" }, async () => {
    const graded = "select 1 from ahs.current_score where grade is not null";
    return (await kit.db.$client.query(graded)).rowCount === 2 ? true : null;
  });
  return { kit, server, browser, key, verdicts };
}

async function makeHistory({ chain }: Testkit): Promise<void> {
  for (const wallet of [STEADY, FAILING, QUIET]) await chain.register(wallet);
  for (const wallet of [STEADY, FAILING]) await chain.succeedInCrowd(wallet);
  for (let day = 0; day < HISTORY_DAYS; day += 1) {
    await chain.moveTime(86_400);
    await chain.succeed(STEADY);
    await chain.revert(FAILING);
  }
  await chain.toWallClock();
  await chain.mine(60, 0);
}
