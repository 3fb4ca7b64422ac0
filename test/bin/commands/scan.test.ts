import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { scan } from "../../../bin/commands/scan.ts";
import { parseConfig } from "../../../bin/config.ts";
import { writeDeployment } from "../../../service/chain/deployments.ts";

const CONTRACT = { address: "0x000000000000000000000000000000000000dEaD", startBlock: 0 } as const;
let folder: string;
let deploymentFile: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "ahs-scan-"));
  deploymentFile = join(folder, "deployment.json");
  writeDeployment(deploymentFile, {
    ...{ chainId: 31_337, name: "a chain", startBlock: 0, finalityBlocks: 1 },
    ...{ identityRegistry: CONTRACT, oracle: CONTRACT, sanctionsList: null, verdictEvaluator: null },
    ...{ escrows: [], registries: [], usdc: null, staticWallets: [] },
    market: { native: { symbol: "ETH", decimals: 18, feed: null }, wrappedNative: null, tokens: [] },
    accounts: { entryPoints: [], publicFunders: [], mixers: [] },
  });
});
afterAll(() => rmSync(folder, { recursive: true }));

test.each(["list", "show", "run"])("%s tells at once that the database does not answer", async (action) => {
  // Nobody listens there.
  const config = parseConfig({ DATABASE_URL: "postgres://127.0.0.1:1/ahs", AHS_DEPLOYMENT: deploymentFile });
  await expect(scan({ config, args: [action], out: () => undefined })).rejects.toThrow("ECONNREFUSED");
});
