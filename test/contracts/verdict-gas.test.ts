import { join } from "node:path";
import { type ContractFunctionArgs, type ContractFunctionName, encodeFunctionData } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { roleAccounts } from "../../devnet/accounts.ts";
import { assuranceAccountsAbi } from "../../service/chain/abi/assurance-accounts.ts";
import { usdCoinAbi } from "../../service/chain/abi/usd-coin.ts";
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

/** Most gas of a whole transaction that moves a part of a bond. */
const bondBars = {
  deposit: 55_000,
  requestWithdrawal: 55_000,
  cancelWithdrawal: 35_000,
  commitOnG1: 145_000,
  slashOnG1: 115_000,
  releaseOnG1: 85_000,
  commitOnG3: 145_000,
  slashOnG3: 115_000,
  releaseOnG3: 85_000,
  commitOnV3: 145_000,
  slashOnV3: 115_000,
  releaseOnV3: 85_000,
  withdraw: 55_000,
};

const { payer: client, facilitator: provider } = roleAccounts();
const decisions = { allow: 1, reject: 2, hold: 3 } as const;

let chain: VerdictChain;
let gas: Record<string, number>;
let bondGas: Record<string, number>;

beforeAll(async () => {
  chain = await startVerdictChain();
  gas = await measure(chain);
  bondGas = await measureBonds(chain);
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

test.each(Object.entries(bondBars))("%s of a bond costs at most %d gas", (name, bar) => {
  expect(bondGas[name]).toBeLessThanOrEqual(bar);
});

test("no call of a bond costs other gas than the committed snapshot says", async () => {
  const snapshot = join(import.meta.dirname, "../golden/bond-gas.json");
  await expect(`${JSON.stringify(bondGas, null, 2)}\n`).toMatchFileSnapshot(snapshot);
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

type BondCall = ContractFunctionName<typeof assuranceAccountsAbi, "nonpayable">;

async function measureBonds(chain: VerdictChain): Promise<typeof bondGas> {
  const { deployment, contracts, submitJob, bring, send, rpc, publicClient } = chain;
  const [evaluator, accounts] = [contracts.verdictEvaluator, contracts.assuranceAccounts];
  const call = <Name extends BondCall>(
    from: typeof client.address,
    functionName: Name,
    args: ContractFunctionArgs<typeof assuranceAccountsAbi, "nonpayable", Name>,
  ) => {
    const data = encodeFunctionData({ abi: assuranceAccountsAbi, functionName, args } as Parameters<
      typeof encodeFunctionData
    >[0]);
    return send({ from, to: accounts, data });
  };
  const wallet = provider.address;
  const approval = { abi: usdCoinAbi, functionName: "approve", args: [accounts, 1_000_000_000n] } as const;
  await send({ from: client.address, to: contracts.usdc, data: encodeFunctionData(approval) });
  await call(client.address, "depositAssuranceFor", [wallet, 100_000_000n]);
  const measured: Record<string, number> = {
    deposit: await call(client.address, "depositAssuranceFor", [wallet, 100_000_000n]),
    requestWithdrawal: await call(wallet, "requestWithdrawal", [50_000_000n]),
    cancelWithdrawal: await call(wallet, "cancelWithdrawal", []),
  };
  for (const { generation, address: escrow } of deployment.escrows) {
    const rejected = await submitJob(generation, escrow, evaluator);
    // The first commitment of a wallet pays for slots that no later one does.
    await call(wallet, "commitToJob", [escrow, await submitJob(generation, escrow, evaluator), 1n]);
    measured[`commitOn${generation}`] = await call(wallet, "commitToJob", [escrow, rejected, 5_000_000n]);
    await bring(evaluator, { escrow, jobId: rejected, decision: decisions.reject });
    measured[`slashOn${generation}`] = await call(client.address, "slash", [escrow, rejected]);
    const allowed = await submitJob(generation, escrow, evaluator);
    await call(wallet, "commitToJob", [escrow, allowed, 5_000_000n]);
    await bring(evaluator, { escrow, jobId: allowed, decision: decisions.allow });
    measured[`releaseOn${generation}`] = await call(client.address, "releaseCommitment", [escrow, allowed]);
  }
  await call(wallet, "requestWithdrawal", [50_000_000n]);
  const { timestamp } = await publicClient.getBlock();
  await rpc.request("evm_mine", { timestamp: Number(timestamp) + 31 * 86_400 });
  return { ...measured, withdraw: await call(wallet, "withdraw", [wallet]) };
}
