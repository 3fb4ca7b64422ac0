import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Hex } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePort } from "../../bin/supervisor/child-process.ts";
import { planHistory } from "../../devnet/build-chain.ts";
import { contractAddresses } from "../../devnet/contract-list.ts";
import { type Devnet, type DevnetOptions, startDevnet } from "../../devnet/devnet.ts";
import { type JsonRpc, jsonRpc } from "../../devnet/json-rpc.ts";
import { SERVICE_DOCUMENTS } from "../../devnet/population/service-documents.ts";
import { AUTHORIZATION_USED } from "../../service/chain/node/rpc-answers.ts";
import { olasServiceRegistryL2Decoder } from "../../service/registries/readers/olas-service-registry-l2.ts";
import type { RegistryDecoder } from "../../service/registries/readers/registry-events.ts";
import { virtualsAgentFactoryDecoder } from "../../service/registries/readers/virtuals-agent-factory.ts";
import { until } from "../support/until.ts";
import { isAlive, untilGone } from "./process-life.ts";

const DAYS = 10;
const WALLETS = 24;
const SEED = "test";
const NOW = Math.floor(Date.now() / 1_000);

type Receipt = { readonly from: Hex; readonly status: Hex; readonly gasUsed: Hex };
type Block = { number: Hex; hash: Hex; timestamp: Hex; baseFeePerGas: Hex; transactions: readonly Hex[] };

describe("the local chain of 24 wallets and 10 days", () => {
  const dataDir = mkdtempSync(join(tmpdir(), "devnet-"));
  const stages: string[] = [];
  const warnings: string[] = [];
  /** Without those of a devnet whose node was taken away from it. */
  const ownWarnings = (): string[] => warnings.filter((warning) => !warning.includes("fetch failed"));
  let devnet: Devnet;
  let rpc: JsonRpc;

  const start = async (part: Partial<DevnetOptions> = {}): Promise<void> => {
    devnet = await startDevnet({
      port: await freePort(),
      dataDir,
      seed: SEED,
      wallets: WALLETS,
      days: DAYS,
      now: () => Date.now() / 1_000,
      onProgress: ({ stage, done, total }) => void stages.push(`${stage} ${done}/${total}`),
      logger: { info: () => undefined, warn: (message) => void warnings.push(message) },
      ...part,
    });
    rpc = jsonRpc(devnet.rpcUrl);
  };

  beforeAll(() => start({ now: () => NOW }), 120_000);

  afterAll(async () => {
    await devnet.stop();
    rmSync(dataDir, { recursive: true });
  });

  test("ends every call as planned, failures included, in blocks of the planned times and order", async () => {
    const { blocks } = planHistory({ seed: SEED, wallets: WALLETS, start: NOW - DAYS * 86_400, end: NOW });
    const chain = await allBlocks(rpc);
    const first = chain.findIndex((block) => Number(block.timestamp) === blocks[0]?.time);
    const planned = blocks.flatMap((b) =>
      b.calls.map((c) => [b.time, c.from.toLowerCase(), c.outcome, c.gasLimit]),
    );
    const mined: unknown[] = [];
    for (const block of chain.slice(first, first + blocks.length)) {
      const receipts = (await rpc.request("eth_getBlockReceipts", block.number)) as Receipt[];
      for (const [i, receipt] of receipts.entries()) {
        const limit = planned[mined.length]?.[3];
        mined.push(
          [Number(block.timestamp), receipt.from, outcomeOf(receipt, Number(limit)), limit, i].slice(0, 4),
        );
      }
    }
    expect(mined).toEqual(planned);
    expect(planned.filter(([, , outcome]) => outcome === "revert").length).toBeGreaterThan(10);
    expect(planned.filter(([, , outcome]) => outcome === "out-of-gas").length).toBeGreaterThan(3);
  });

  test("has at most 8,000 blocks, of rising times, from ten days ago to now, the last 30 of them past the history", async () => {
    const chain = (await allBlocks(rpc)).slice(1);
    const times = chain.map((block) => Number(block.timestamp));
    expect(chain.length).toBeLessThanOrEqual(8_000);
    expect(times).toEqual([...new Set(times)].sort((a, b) => a - b));
    expect(times[0]).toBe(NOW - DAYS * 86_400);
    expect(Math.abs((times.at(-1) ?? 0) - NOW)).toBeLessThanOrEqual(5);
    expect(times.at(-30)).toBeGreaterThan(NOW - 70);
    expect(chain.slice(-30).flatMap((block) => block.transactions)).toEqual([]);
    expect(chain.slice(-30).every((block) => Number(block.baseFeePerGas) > 50_000_000)).toBe(true);
  });

  test("holds every contract at its address, the roles of the oracle and 10,000 USDC of the payer", async () => {
    expect(devnet.contracts).toEqual(contractAddresses());
    for (const address of Object.values(devnet.contracts)) {
      expect(await rpc.request("eth_getCode", address, "latest")).not.toBe("0x");
    }
    const balance = await call(
      rpc,
      devnet.contracts.usdc,
      `0x70a08231${word(devnet.accounts.payer.address)}`,
    );
    expect(BigInt(balance)).toBe(10_000_000_000n);
    expect(await call(rpc, devnet.contracts.oracle, "0x8c72c54e")).toBe(
      `0x${word(devnet.accounts.publisher.address)}`,
    );
    expect(devnet.deployment.oracle.address).toBe(devnet.contracts.oracle);
  });

  test("names one wallet of each archetype, each of which has acted", async () => {
    const { "x402-payer": payer, "x402-seller": seller, ...senders } = devnet.samples;
    expect(Object.keys(senders)).toHaveLength(21);
    for (const address of Object.values(senders)) {
      expect(Number(await rpc.request("eth_getTransactionCount", address, "latest"))).toBeGreaterThan(0);
    }
    for (const address of [payer, seller]) {
      expect(await rpc.request("eth_getTransactionCount", address, "latest")).toBe("0x0");
    }
    const signed = { fromBlock: "0x0", topics: [AUTHORIZATION_USED, `0x${word(payer)}`] };
    expect(await rpc.request("eth_getLogs", signed)).not.toEqual([]);
    const earned = await call(rpc, devnet.contracts.usdc, `0x70a08231${word(seller)}`);
    expect(BigInt(earned)).toBeGreaterThan(0n);
    const listed = await call(
      rpc,
      devnet.contracts.sanctionsList,
      `0xdf592f7d${word(devnet.samples.sanctioned)}`,
    );
    expect(BigInt(listed)).toBe(1n);
  });

  test("has agents of services and launched agents, whose wallets are agents of the first registry", async () => {
    const { serviceRegistry, agentLaunchpad } = contractAddresses();
    const eventsOf = async (address: Hex, { decode }: RegistryDecoder) => {
      const logs = await rpc.request("eth_getLogs", { address, fromBlock: "0x0", toBlock: "latest" });
      return (logs as { topics: Hex[]; data: Hex }[]).flatMap((log) => decode(log) ?? []);
    };
    const services = await eventsOf(serviceRegistry, olasServiceRegistryL2Decoder);
    expect(services.flatMap((event) => ("uri" in event ? (event.uri ?? []) : [])).toSorted()).toEqual(
      SERVICE_DOCUMENTS.map(({ configHash }) => `ipfs://f01701220${configHash.slice(2)}`).toSorted(),
    );
    const launched = await eventsOf(agentLaunchpad, virtualsAgentFactoryDecoder);
    expect(launched.map(({ agentId }) => agentId)).toEqual([1n, 2n]);
  });

  test("reports its progress, stage by stage, up to the end", () => {
    const names = [...new Set(stages.map((stage) => stage.split(" ")[0]))];
    expect(names).toEqual(["contracts", "plan", "history", "catch-up"]);
    expect(stages.filter((stage) => stage.startsWith("history")).at(-1)).toMatch(/^history (\d+)\/\1$/);
  });

  test("sends nothing for an account without its key once it is built", async () => {
    const transaction = { from: devnet.samples.keeper, to: devnet.samples.keeper, value: "0x1" };
    await expect(rpc.request("eth_sendTransaction", transaction)).rejects.toThrow("No Signer available");
  });

  test("keeps blocks, receipts and logs over a stop, and goes on from there", async () => {
    const before = await fingerprint(rpc);
    await devnet.stop();
    await start();
    expect(devnet.isReused).toBe(true);
    expect(await fingerprint(rpc)).toEqual(before);

    const asked = Date.now() / 1_000;
    await rpc.request("evm_mine");
    const head = await latest(rpc);
    expect(Number(head.number)).toBe(before.blocks.length);
    expect(Number(head.timestamp)).toBeGreaterThan(asked - 3);
    expect(Number(head.timestamp)).toBeLessThan(Date.now() / 1_000 + 3);
  });

  test("lives: new transactions at the time of the wall clock, and none once it is stopped", async () => {
    const from = Number((await latest(rpc)).number);
    const living = await devnet.startLiving();
    const begun = Date.now() / 1_000;
    await until({ what: "three calls are sent" }, async () =>
      (await sentSince(rpc, from)) >= 3 ? true : null,
    );
    expect(Number((await latest(rpc)).timestamp)).toBeGreaterThan(begun - 3);
    expect(Number((await latest(rpc)).timestamp)).toBeLessThan(Date.now() / 1_000 + 3);
    await living.stop();
    await rpc.request("evm_mine");
    const stoppedAt = Number((await latest(rpc)).number);
    await delay(2_500);
    expect(Number((await latest(rpc)).number)).toBe(stoppedAt);
    expect(warnings).toEqual([]);
  });

  test("keeps the states of its newest blocks alone while it lives, so that its memory is bounded", async () => {
    const living = await devnet.startLiving();
    await rpc.request("anvil_mine", "0x96");
    await living.stop();
    const head = Number((await latest(rpc)).number);
    const balanceAt = (block: number) =>
      rpc.request("eth_getBalance", devnet.samples.keeper, `0x${block.toString(16)}`);
    expect(await balanceAt(head - 64)).toMatch(/^0x/);
    await expect(balanceAt(head - 140)).rejects.toThrow("BlockOutOfRange");
  });

  test("refuses to take the stored chain for one of another seed", async () => {
    await devnet.stop();
    await expect(start({ seed: "another" })).rejects.toThrow(/was built with seed test, 24 wallets, 10 days/);
    await start();
  });

  test("stops a node that was left behind by a killed process and loads its chain", async () => {
    const abandoned = devnet;
    await abandoned.startLiving();
    const left = nodeOf(dataDir);
    const head = Number((await latest(rpc)).number);
    await start();
    await untilGone(left.pid);
    expect([devnet.isReused, ownWarnings()]).toEqual([true, []]);
    expect(Number((await latest(rpc)).number)).toBeGreaterThanOrEqual(head);
    await abandoned.stop();
  });

  test("builds a new chain when the stored one cannot be read, and says so", async () => {
    await devnet.stop();
    writeFileSync(join(dataDir, "anvil-state.json"), "{");
    await start();
    expect(devnet.isReused).toBe(false);
    expect(ownWarnings().at(-1)).toMatch(/^the kept chain cannot be loaded, building a new one/);
  });

  test("leaves no process behind", async () => {
    const { pid } = nodeOf(dataDir);
    expect(isAlive(pid)).toBe(true);
    await devnet.stop();
    expect(isAlive(pid)).toBe(false);
  });
});

function nodeOf(dataDir: string): { readonly pid: number } {
  return JSON.parse(readFileSync(join(dataDir, "anvil-process.json"), "utf8"));
}

function outcomeOf(receipt: Receipt, gasLimit: number): string {
  if (receipt.status === "0x1") return "success";
  return Number(receipt.gasUsed) >= gasLimit * 0.98 ? "out-of-gas" : "revert";
}

async function latest(rpc: JsonRpc): Promise<Block> {
  return (await rpc.request("eth_getBlockByNumber", "latest", false)) as Block;
}

async function allBlocks(rpc: JsonRpc): Promise<Block[]> {
  const count = Number((await latest(rpc)).number) + 1;
  const numbers = Array.from({ length: count }, (_, i) => `0x${i.toString(16)}`);
  const blocks = await rpc.batch(
    numbers.map((n) => ({ method: "eth_getBlockByNumber", params: [n, false] })),
  );
  return blocks as Block[];
}

async function fingerprint(rpc: JsonRpc) {
  const blocks = await allBlocks(rpc);
  const receipts = await rpc.batch(
    blocks.map((block) => ({ method: "eth_getBlockReceipts", params: [block.number] })),
  );
  return {
    blocks,
    receipts,
    logs: await rpc.request("eth_getLogs", { fromBlock: "0x0", toBlock: "latest" }),
  };
}

async function sentSince(rpc: JsonRpc, block: number): Promise<number> {
  const counts = (await allBlocks(rpc)).slice(block + 1).map((b) => ({
    method: "eth_getBlockTransactionCountByNumber",
    params: [b.number],
  }));
  return (await rpc.batch(counts)).reduce<number>((sum, count) => sum + Number(count), 0);
}

async function call(rpc: JsonRpc, to: string, data: string): Promise<string> {
  return String(await rpc.request("eth_call", { to, data }, "latest"));
}

function word(address: string): string {
  return address.slice(2).toLowerCase().padStart(64, "0");
}
