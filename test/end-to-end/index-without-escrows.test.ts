import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { writeDeployment } from "../../service/chain/deployments.ts";
import { lowerCase } from "../../service/db/columns.ts";
import { readEscrowIndex, readIndexedJob } from "../../service/verification/escrow/escrow-jobs.ts";
import { startIndexer } from "../support/anvil-testkit/indexer.ts";
import { bootTestkit, type Testkit } from "../support/anvil-testkit/testkit.ts";

let kit: Testkit;
beforeAll(async () => {
  kit = await bootTestkit({ ageSeconds: 600 });
});
afterAll(() => kit.close());

test("a chain without an evaluator and without escrows is indexed", async () => {
  const { folder, databaseUrl } = kit;
  const deploymentFile = join(folder, "bare.json");
  writeDeployment(deploymentFile, { ...kit.chain.deployment, verdictEvaluator: null, escrows: [] });
  const indexer = await startIndexer({ folder, databaseUrl, rpcUrl: kit.chain.rpcUrl, deploymentFile });
  kit.onClose(indexer.stop);
  const head = await kit.chain.head();
  await indexer.reach(head);
  expect(await readEscrowIndex(kit.db, 31_337)).toMatchObject({ number: BigInt(head) });
  const escrow = lowerCase(kit.chain.contracts.jobEscrow);
  expect(await readIndexedJob(kit.db, { chainId: 31_337, escrow, jobId: 1n })).toBeNull();
});
