import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startVerdictChain, type VerdictChain } from "./support/verdict-chain.ts";

/** Most gas of a whole transaction, what the escrow itself costs included. */
const bars = {
  allowOnG1: 135_000,
  rejectOnG1: 130_000,
  holdOnG1: 125_000,
  allowOnG3: 135_000,
  rejectOnG3: 130_000,
  holdOnG3: 125_000,
  allowOnV3: 135_000,
  rejectOnV3: 130_000,
  holdOnV3: 125_000,
};

const decisions = { allow: 1, reject: 2, hold: 3 } as const;

let chain: VerdictChain;
let gas: Record<string, number>;

beforeAll(async () => {
  chain = await startVerdictChain();
  gas = await measure(chain);
});

afterAll(async () => {
  await chain.stop();
});

test.each(Object.entries(bars))("%s costs at most %d gas", (name, bar) => {
  expect(gas[name]).toBeLessThanOrEqual(bar);
});

test("no verdict costs other gas than the committed snapshot says", async () => {
  const snapshot = join(import.meta.dirname, "../golden/verdict-gas.json");
  await expect(`${JSON.stringify(gas, null, 2)}\n`).toMatchFileSnapshot(snapshot);
});

async function measure({ deployment, contracts, submitJob, bring }: VerdictChain): Promise<typeof gas> {
  const evaluator = contracts.verdictEvaluator;
  const measured: Record<string, number> = {};
  for (const { generation, address: escrow } of deployment.escrows) {
    // The first job of an escrow pays for slots that no later one does.
    await bring(evaluator, {
      escrow,
      jobId: await submitJob(generation, escrow, evaluator),
      decision: decisions.allow,
    });
    for (const [name, decision] of Object.entries(decisions)) {
      const jobId = await submitJob(generation, escrow, evaluator);
      measured[`${name}On${generation}`] = await bring(evaluator, { escrow, jobId, decision });
    }
  }
  return measured;
}
