import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Deployment, writeDeployment } from "../../../service/chain/deployments.ts";
import { runScript } from "../../support/anvil-testkit/script.ts";
import { urlForRole, useDatabase } from "../../support/test-database.ts";
import { useFolder } from "../../support/use-folder.ts";

const db = useDatabase();
const folder = useFolder();

const contract = (digit: string) => ({ address: `0x${digit.repeat(40)}` as const, startBlock: 1 });
const DEPLOYMENT: Deployment = {
  ...{ chainId: 31_337, name: "test", startBlock: 1, finalityBlocks: 5 },
  ...{ identityRegistry: contract("1"), oracle: contract("2"), sanctionsList: null, usdc: null },
  ...{ verdictEvaluator: null, assuranceAccounts: null, escrows: [], registries: [] },
  ...{ reputationRegistry: null, validationRegistry: null, staticWallets: [] },
  market: { native: { symbol: "ETH", decimals: 18, feed: null }, wrappedNative: null, tokens: [] },
  accounts: { entryPoints: [], publicFunders: [], mixers: [], venues: [], vettedServices: [] },
};

test("an indexer whose port is taken ends, and names the port and its setting", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const { port } = taken.address() as AddressInfo;
  const deploymentFile = join(folder, "deployment.json");
  writeDeployment(deploymentFile, DEPLOYMENT);
  const env = {
    DATABASE_URL: urlForRole(String(db.$client.options.connectionString), "ahs_index"),
    RPC_URL: "http://127.0.0.1:9",
    AHS_DEPLOYMENT: deploymentFile,
    INDEX_PORT: String(port),
  };
  const indexer = runScript(["index"], env, join(folder, "index.log"));
  expect([await indexer.exited, indexer.log()]).toEqual([
    1,
    expect.stringContaining(`ahs: port ${port} of 127.0.0.1 is taken (INDEX_PORT)`),
  ]);
  taken.close();
});
