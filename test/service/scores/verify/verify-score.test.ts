import canonicalize from "canonicalize";
import { type Address, encodeFunctionData, getAddress, type Hex, keccak256 } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { roleAccounts } from "../../../../devnet/accounts.ts";
import { renderAhsRecord } from "../../../../service/api/schemas/ahs-record.ts";
import { renderExplanation } from "../../../../service/api/schemas/explanation.ts";
import { usdCoinAbi } from "../../../../service/chain/abi/usd-coin.ts";
import { writeDeployment } from "../../../../service/chain/deployments.ts";
import { createChainReader } from "../../../../service/chain/node/chain-reader.ts";
import { createOtterscanSource } from "../../../../service/ingest/history/otterscan-source.ts";
import { AHS_2026_2 } from "../../../../service/model/score/policy.ts";
import { defaultPublishPolicy } from "../../../../service/oracle/publish-policy.ts";
import { scoreNow } from "../../../../service/scores/score-on-demand.ts";
import { readInputFile } from "../../../../service/scores/scores.ts";
import type { StoredScore } from "../../../../service/scores/stored-score.ts";
import { type RecordedScore, recordedScoreSchema } from "../../../../service/scores/verify/compare-scores.ts";
import { scanBlocks, searchSource } from "../../../../service/scores/verify/read-own-calls.ts";
import { type VerifyDeps, verifyScore } from "../../../../service/scores/verify/verify-score.ts";
import { bootTestkit, type Testkit } from "../../../support/anvil-testkit/testkit.ts";
import { signPayment } from "../../../support/signed-payment.ts";
import { until } from "../../../support/until.ts";

const inputsSchema = z.record(z.string(), z.string());
const AGENT = getAddress("0x00000000000000000000000000000000000a9e11");
const STRANGER = roleAccounts().payer.address;
const WALLET = AGENT.toLowerCase() as Address;
/** Only signs payments, which a stranger sends. */
const SIGNER = privateKeyToAccount(`0x${"17".repeat(32)}`);
const PAYMENTS = 6;
/** Most calls have the tip of a block that is not their own. */
const SAMPLE = { everyBlocks: 7, blocks: 3 };

let kit: Testkit;
let deps: VerifyDeps;
beforeAll(async () => {
  kit = await bootTestkit({ ageSeconds: 40 * 86_400 });
  const { chain, db } = kit;
  await chain.register(AGENT);
  await chain.register(SIGNER.address);
  const { usdc } = chain.contracts;
  const mint = encodeFunctionData({
    abi: usdCoinAbi,
    functionName: "mint",
    args: [SIGNER.address, 1_000_000n],
  });
  await chain.send({ from: roleAccounts().deployer.address, to: usdc, data: mint });
  for (let round = 0; round < 20; round += 1) {
    await chain.moveTime(86_400);
    await chain.succeed(AGENT);
    await chain.succeed(STRANGER);
    if (round % 4 === 0) await chain.revert(AGENT);
    if (round >= PAYMENTS) continue;
    const data = await signPayment(usdc, SIGNER, { to: AGENT, amount: 20_000n, nonce: round });
    await chain.send({ from: STRANGER, to: usdc, data });
  }
  await chain.mine(40);
  writeDeployment(kit.deploymentFile, { ...chain.deployment, sample: SAMPLE });
  const indexer = await kit.startIndexer();
  await indexer.reach(await chain.head());
  kit.startWorker();
  const client = createChainReader({
    url: chain.rpcUrl,
    timeoutMs: 10_000,
    retries: 1,
    retryMs: 100,
    signal: new AbortController().signal,
    onRequest: () => undefined,
  });
  const source = createOtterscanSource({ url: chain.rpcUrl, pageSize: 25 });
  deps = {
    client,
    find: searchSource(source, () => performance.now()),
    readFile: (hash) => readInputFile(db, hash),
    chain: {
      entryPoints: new Set(),
      wrappedNative: chain.contracts.weth.toLowerCase() as Address,
      rule: SAMPLE,
    },
  };
  const finalized = (await chain.head()) - chain.deployment.finalityBlocks;
  await until({ what: "the wallet's calls are enriched", timeoutMs: 40_000 }, async () =>
    (await recordOf()).as_of_block >= finalized ? true : null,
  );
});
afterAll(async () => {
  await kit.close();
});

test("a score follows from the node and the files it names, found by search or by reading every block", async () => {
  const record = await recordOf();
  const searched = await verifyScore(record, deps);
  expect(searched.differences).toEqual([]);
  expect(searched.calls).toBe(26);
  const scanned = await verifyScore(record, { ...deps, find: scanBlocks(deps.client) });
  expect(scanned).toEqual(searched);
});

test("a score of signed payments follows from the node, which finds them by their logs", async () => {
  const record = await recordOf(SIGNER.address.toLowerCase() as Address);
  expect(await verifyScore(record, deps)).toMatchObject({ differences: [], calls: 1 + PAYMENTS });
});

test("a row that says otherwise than the chain is found out, with the features that it moved", async () => {
  const tampered = "chain_id = 31337 and wallet = $1 and not ok";
  await kit.db.$client.query(`update ahs.own_call set ok = true, logs = -7 where ${tampered}`, [WALLET]);
  try {
    const { differences } = await verifyScore(await recordOf(), deps);
    const named = differences.map(({ what }) => what);
    expect(named).toEqual(
      expect.arrayContaining([
        "own calls (digest of the rows)",
        "inputs_hash",
        "D1 success_rate",
        "D2 failure_recovery",
      ]),
    );
  } finally {
    await kit.db.$client.query("update ahs.own_call set ok = false, logs = 0 where logs = -7");
  }
});

test("a record that was changed on its way is found out", async () => {
  const record = await recordOf();
  const forged = {
    ...record,
    ahs_score: 100,
    grade: "A",
    trust_routing: "instant_settle",
    as_of_time: "2020-01-01T00:00:00.000Z",
  };
  const { differences } = await verifyScore(forged, deps);
  expect(differences.map(({ what }) => what)).toEqual([
    "ahs_score",
    "grade",
    ...(record.trust_routing === "instant_settle" ? [] : ["trust_routing"]),
    "as_of_time",
  ]);
});

test("a line that is recorded twice is found out, wherever the forged one is", async () => {
  const record = await recordOf();
  const line = record.features.find(({ name }) => name === "success_rate");
  if (line === undefined) throw new Error("the record has no success rate");
  const forged = { ...line, score: 100 };
  for (const features of [
    [forged, ...record.features],
    [...record.features, forged],
  ]) {
    const { differences } = await verifyScore({ ...record, features }, deps);
    expect(differences.map(({ what }) => what)).toEqual(["D1 success_rate"]);
  }
});

test("an answer with D3 is verified by everything that follows without probes", async () => {
  const record = await recordOf();
  const d3 = { ...LINE, dimension: "D3", name: "availability" };
  const answer = {
    ...record,
    mode: "3D" as const,
    ahs_score: 1,
    grade: "F",
    features: [...record.features, d3],
  };
  expect((await verifyScore(answer, deps)).differences).toEqual([]);
  const forged = { ...answer, d1_score: 1 };
  expect((await verifyScore(forged, deps)).differences.map(({ what }) => what)).toEqual(["d1_score"]);
});

test("a file that is not what its hash says is refused", async () => {
  const record = await recordOf();
  const forged: VerifyDeps = {
    ...deps,
    readFile: async (hash) => {
      const content = await deps.readFile(hash);
      return typeof content === "object" && content !== null && "counterparties" in content
        ? { ...content, counterparties: [] }
        : content;
    },
  };
  await expect(verifyScore(record, forged)).rejects.toThrow(/^the file 0x[0-9a-f]{64} has the hash 0x/);
});

test("a record of another model version is an error that names both versions", async () => {
  const record = await recordOf();
  const files = new Map<Hex, unknown>();
  const add = (content: unknown) => {
    const hash = keccak256(Buffer.from(canonicalize(content) ?? "", "utf8"));
    files.set(hash, content);
    return hash;
  };
  const inputs = inputsSchema.parse(await deps.readFile(record.inputs_hash));
  const policy = add({ ...AHS_2026_2, version: "AHS-2026.1" });
  const older = { ...record, model_version: "AHS-2026.1", inputs_hash: add({ ...inputs, policy }) };
  const readFile = async (hash: Hex) => files.get(hash) ?? deps.readFile(hash);
  await expect(verifyScore(older, { ...deps, readFile })).rejects.toThrow(
    "the record is of another model version: expected AHS-2026.2, which this program computes, got AHS-2026.1",
  );
});

test("a node that lacks the block is an error, not a difference", async () => {
  const record = await recordOf();
  await expect(verifyScore({ ...record, as_of_block: 10_000_000 }, deps)).rejects.toThrow(
    "the node has no block 10000000",
  );
});

/** The record of a wallet, by default the agent's, as GET /ahs answers it, scored now. */
async function recordOf(wallet = WALLET): Promise<RecordedScore> {
  const { db, chain } = kit;
  const context = {
    db,
    chainId: 31_337,
    chain: chain.deployment,
    policy: AHS_2026_2,
    publishPolicy: defaultPublishPolicy,
    now: () => new Date(),
  };
  const outcome = await scoreNow(context, wallet);
  if (outcome.kind !== "stored") return recordedScoreSchema.parse({ ...EMPTY, address: wallet });
  return recordedScoreSchema.parse(toAnswer(outcome.row));
}

function toAnswer(row: StoredScore): unknown {
  const record = renderAhsRecord({
    row,
    published: null,
    oracle: kit.chain.contracts.oracle,
    trend: { points: 0, change: null },
    threats: [],
    policy: AHS_2026_2,
    now: new Date(),
  });
  return JSON.parse(JSON.stringify({ ...record, ...renderExplanation(row.features) }));
}

const LINE = { value: 1, samples: 1, state: "measured", score: 100, weight: 0.4, contribution: 4000 };

const EMPTY = {
  ahs_score: null,
  grade: null,
  d1_score: null,
  d2_score: null,
  confidence: 0,
  confidence_level: "INSUFFICIENT",
  patterns: [],
  sanctions_flags: [],
  mode: "2D",
  trust_routing: "escrow",
  as_of_time: "",
  model_version: "",
  chain_id: 31_337,
  as_of_block: 0,
  inputs_hash: `0x${"0".repeat(64)}`,
  coverage: { to_block: 0 },
  ...{ features: [], dimensions: [], adjustments: [] },
};
