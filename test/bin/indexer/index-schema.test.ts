import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { indexSchemaName } from "../../../bin/indexer/index-schema.ts";
import type { Deployment } from "../../../service/chain/deployments.ts";
import { useFolder } from "../../support/use-folder.ts";

const ROOT = new URL("../../..", import.meta.url).pathname;
const folder = useFolder();

const contract = (digit: string) => ({ address: `0x${digit.repeat(40)}` as const, startBlock: 1 });
const escrow: Deployment["escrows"][number] = {
  ...contract("4"),
  generation: "G3",
  codeHash: `0x${"aa".repeat(32)}`,
  implementation: { address: `0x${"5".repeat(40)}`, codeHash: `0x${"bb".repeat(32)}` },
};
const deployment: Deployment = {
  chainId: 31_337,
  name: "test",
  startBlock: 1,
  finalityBlocks: 5,
  identityRegistry: contract("1"),
  sanctionsList: null,
  oracle: contract("2"),
  verdictEvaluator: contract("3"),
  assuranceAccounts: contract("8"),
  escrows: [escrow],
  registries: [],
  reputationRegistry: null,
  validationRegistry: null,
  usdc: null,
  market: { native: { symbol: "ETH", decimals: 18, feed: null }, wrappedNative: null, tokens: [] },
  accounts: { entryPoints: [], publicFunders: [], mixers: [], venues: [], vettedServices: [] },
  staticWallets: [],
};

function nameOf(changed: Partial<Deployment>): string {
  const file = join(folder, "deployment.json");
  writeFileSync(file, JSON.stringify({ ...deployment, ...changed }));
  return indexSchemaName(ROOT, 31_337, file);
}

it("names one index for an escrow before and after its upgrade, and another once more is indexed", () => {
  const upgraded = { ...escrow, implementation: null, codeHash: `0x${"cc".repeat(32)}` as const };
  expect(nameOf({ escrows: [upgraded] })).toBe(nameOf({}));
  expect(nameOf({ reputationRegistry: contract("7").address })).toBe(nameOf({}));
  expect(nameOf({ escrows: [escrow, { ...escrow, ...contract("6") }] })).not.toBe(nameOf({}));
  expect(nameOf({ escrows: [{ ...escrow, startBlock: 2 }] })).not.toBe(nameOf({}));
});
