import { join } from "node:path";
import { type Address, getAddress, type Hex, keccak256, numberToHex, slice } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { agentHealthOracleAbi } from "../../service/chain/abi/agent-health-oracle.ts";
import {
  type OracleScore,
  packScore,
  scoreMessage,
  scoreTypedData,
} from "../../service/chain/oracle-codec.ts";
import { type GasChain, startGasChain } from "./support/gas-chain.ts";

/** Most gas of a whole transaction, base cost and calldata included; of a batch, per wallet. */
const bars = {
  updatePerWalletInBatchOf100: 6_700,
  firstWritePerWalletInBatchOf100: 23_900,
  singleUpdate: 32_500,
  relayedUpdate: 42_000,
};

/** An as-of on a public chain has up to two non-zero bytes more than here: 12 gas of calldata each. */
const longerAsOf = 24;

let chain: GasChain;
let gas: Record<keyof typeof bars, number>;

beforeAll(async () => {
  chain = await startGasChain();
  gas = await measure(chain);
});

afterAll(async () => {
  await chain.stop();
});

test.each(Object.entries(bars))("%s costs at most %d gas", (name, bar) => {
  expect(gas[name as keyof typeof bars]).toBeLessThanOrEqual(bar);
});

test("no transaction costs other gas than the committed snapshot says", async () => {
  const snapshot = join(import.meta.dirname, "../golden/oracle-gas.json");
  await expect(`${JSON.stringify(gas, null, 2)}\n`).toMatchFileSnapshot(snapshot);
});

async function measure({ number, timestamp }: GasChain): Promise<typeof gas> {
  const hundred = Array.from({ length: 100 }, (_, index) => index);
  const first = await publish(
    number - 3n,
    timestamp - 3n,
    hundred.map((index) => word(index, 80)),
  );
  const update = await publish(
    number - 2n,
    timestamp - 2n,
    hundred.map((index) => word(index, 85)),
  );
  const single = await publish(number - 1n, timestamp - 1n, [word(0, 90)]);
  return {
    updatePerWalletInBatchOf100: update / 100,
    firstWritePerWalletInBatchOf100: first / 100,
    singleUpdate: single,
    relayedUpdate: await relay(number, timestamp),
  };
}

async function publish(asOf: bigint, asOfTime: bigint, words: Hex[]): Promise<number> {
  const { publisher, oracle, gasOf } = chain;
  const { address } = oracle;
  const call = { address, abi: agentHealthOracleAbi, functionName: "publish" } as const;
  return (
    longerAsOf + (await gasOf(await publisher.writeContract({ ...call, args: [asOf, asOfTime, words] })))
  );
}

async function relay(asOf: bigint, asOfTime: bigint): Promise<number> {
  const { deployer, signer, oracle, gasOf } = chain;
  const { address } = oracle;
  const message = scoreMessage(score(0, 70), { asOf, asOfTime, validUntil: asOfTime + 172_800n });
  const signature = await signer.account.signTypedData(scoreTypedData({ chainId: 31_337, address }, message));
  const call = { address, abi: agentHealthOracleAbi, functionName: "publishSigned" } as const;
  return longerAsOf + (await gasOf(await deployer.writeContract({ ...call, args: [message, signature] })));
}

function word(seed: number, points: number): Hex {
  return packScore(score(seed, points));
}

/** Every byte is non-zero but the flags: a flagged wallet has no safe amount or no scores, which are more bytes. */
function score(seed: number, points: number): OracleScore {
  const outcome = { kind: "scored", ahsScore: points, d1Score: points + 1, d2Score: points - 1 } as const;
  return {
    wallet: wallet(seed),
    outcome,
    confidenceBps: 8_421,
    sanctioned: false,
    modelVersion: "AHS-2026.0",
    safeMicroUsd: 1_234_560_000n,
  };
}

function wallet(seed: number): Address {
  return getAddress(slice(keccak256(numberToHex(seed, { size: 32 })), 12));
}
