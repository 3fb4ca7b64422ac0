import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { run as scan } from "../../../bin/commands/scan.ts";
import { parseConfig } from "../../../bin/config.ts";
import { writeDeployment } from "../../../service/chain/deployments.ts";
import { useFolder } from "../../support/use-folder.ts";

const CONTRACT = { address: "0x000000000000000000000000000000000000dEaD", startBlock: 0 } as const;
const folder = useFolder();
let deploymentFile: string;

beforeAll(() => {
  deploymentFile = join(folder, "deployment.json");
  writeDeployment(deploymentFile, {
    ...{ chainId: 31_337, name: "a chain", startBlock: 0, finalityBlocks: 1 },
    ...{ identityRegistry: CONTRACT, oracle: CONTRACT, sanctionsList: null },
    ...{ verdictEvaluator: null, assuranceAccounts: null },
    ...{
      escrows: [],
      registries: [],
      reputationRegistry: null,
      validationRegistry: null,
      usdc: null,
      staticWallets: [],
    },
    market: { native: { symbol: "ETH", decimals: 18, feed: null }, wrappedNative: null, tokens: [] },
    accounts: { entryPoints: [], publicFunders: [], mixers: [], venues: [], vettedServices: [] },
  });
});

test.each(["list", "show", "run"])("%s reports at once that the database does not answer", async (action) => {
  // No server listens on this port.
  const config = parseConfig({ DATABASE_URL: "postgres://127.0.0.1:1/ahs", AHS_DEPLOYMENT: deploymentFile });
  await expect(scan({ config, args: [action], out: () => undefined })).rejects.toThrow("ECONNREFUSED");
});
