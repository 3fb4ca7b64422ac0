import {
  type Address,
  createPublicClient,
  encodeFunctionData,
  getAddress,
  http,
  keccak256,
  toHex,
} from "viem";
import { beforeAll, expect, test } from "vitest";
import { roleAccounts } from "../../devnet/accounts.ts";
import { reputationRegistryAbi } from "../../service/chain/abi/reputation-registry.ts";
import { validationRegistryAbi } from "../../service/chain/abi/validation-registry.ts";
import type { Script } from "../support/anvil-testkit/script.ts";
import type { TestServer } from "../support/anvil-testkit/services.ts";
import { useTestkit } from "../support/anvil-testkit/testkit.ts";
import { until } from "../support/until.ts";

const AGENT = getAddress("0x00000000000000000000000000000000000a9e01");
const AGENT_ID = 0n;
const CALLS = 40;
const US = roleAccounts().publisher.address;

const kit = useTestkit({ ageSeconds: 40 * 86_400 });
let server: TestServer;
let worker: Script;
const ofWorker = () => ({ env: { PUBLIC_URL: server.baseUrl } });
beforeAll(async () => {
  const { chain } = kit;
  await chain.register(AGENT);
  for (let call = 0; call < CALLS; call += 1) {
    await chain.moveTime(79_200);
    await chain.succeedInCrowd(AGENT);
  }
  await chain.mine(60, 1);
  await chain.toWallClock();
  await kit.startIndexer();
  server = await kit.startServer();
  worker = kit.startWorker(ofWorker());
  kit.startMining(500);
});

test("the agent of a scored wallet has our score in the registry, with a document that anybody can check", async () => {
  const value = await untilSummary((points) => points > 0n);
  expect(value).toBe(BigInt(await scoreOf(AGENT)));
  const [given] = await givenLogs();
  const answer = await fetch(given?.args.feedbackURI ?? "");
  const text = await answer.text();
  expect(keccak256(toHex(text))).toBe(given?.args.feedbackHash);
  const { record, ...file } = JSON.parse(text);
  expect(file).toMatchObject({ agentId: 0, value: Number(value), tag1: "ahs" });
  const inputs = await fetch(record.inputs);
  expect(inputs.status).toBe(200);
});

test("a validation that the agent asks for is answered with its score", async () => {
  const { identityRegistry, validationRegistry } = kit.chain.contracts;
  const agentRegistry = `eip155:31337:${identityRegistry}`;
  const body = JSON.stringify({ type: "ahs", agentRegistry, agentId: Number(AGENT_ID), salt: "first" });
  const uri = `data:application/json;base64,${Buffer.from(body).toString("base64")}`;
  const args = [US, AGENT_ID, uri, keccak256(toHex(body))] as const;
  const data = encodeFunctionData({ abi: validationRegistryAbi, functionName: "validationRequest", args });
  expect((await kit.chain.send({ from: AGENT, to: validationRegistry, data })).status).toBe("success");
  const answered = await until({ what: "an answer", timeoutMs: 150_000 }, async () => {
    const client = createPublicClient({ transport: http(kit.rpcUrl), cacheTime: 0 });
    const contract = { address: validationRegistry, abi: validationRegistryAbi } as const;
    const logs = await client.getContractEvents({
      ...contract,
      eventName: "ValidationResponse",
      fromBlock: 0n,
    });
    return logs[0]?.args ?? null;
  });
  expect([answered.response, answered.tag]).toEqual([await scoreOf(AGENT), "ahs"]);
  const text = await (await fetch(answered.responseURI ?? "")).text();
  expect(keccak256(toHex(text))).toBe(answered.responseHash);
});

test("a sanction replaces it by zero, with the worker killed after each call was queued", async () => {
  await kit.chain.sanction([AGENT]);
  for (const kind of ["revoke", "give"]) {
    await until({ what: `the ${kind} is queued`, timeoutMs: 120_000 }, async () => {
      const { rows } = await kit.db.$client.query(
        "select 1 from ahs.feedback where kind = $1 and (kind = 'revoke' or label = 'sanctioned')",
        [kind],
      );
      return rows.length > 0 ? true : null;
    });
    await worker.kill();
    worker = kit.startWorker(ofWorker());
  }
  expect(await untilSummary((points) => points === 0n)).toBe(0n);
  expect((await givenLogs()).length).toBe(2);
  const rows = await until({ what: "all calls are confirmed" }, async () => {
    const { rows: found } = await kit.db.$client.query(
      "select kind, label, feedback_index::int as index, state from ahs.feedback order by id",
    );
    return found.every(({ state }) => state === "confirmed") ? found : null;
  });
  expect(rows).toEqual([
    { kind: "give", label: expect.stringMatching(/^[A-F]$/), index: 1, state: "confirmed" },
    { kind: "revoke", label: rows[0]?.label, index: null, state: "confirmed" },
    { kind: "give", label: "sanctioned", index: 2, state: "confirmed" },
  ]);
});

/** Waits until we have left exactly one entry that counts, and its value fits. */
function untilSummary(fits: (value: bigint) => boolean): Promise<bigint> {
  return until({ what: "one entry of ours", timeoutMs: 150_000 }, async () => {
    const [count, value] = await registry().getSummary();
    return count === 1n && fits(value) ? value : null;
  });
}

function registry() {
  const client = createPublicClient({ transport: http(kit.rpcUrl), cacheTime: 0 });
  const contract = { address: kit.chain.contracts.reputationRegistry, abi: reputationRegistryAbi } as const;
  return {
    getSummary: () =>
      client.readContract({ ...contract, functionName: "getSummary", args: [AGENT_ID, [US], "ahs", ""] }),
    given: () => client.getContractEvents({ ...contract, eventName: "NewFeedback", fromBlock: 0n }),
  };
}

function givenLogs() {
  return registry().given();
}

async function scoreOf(wallet: Address): Promise<number> {
  const { rows } = await kit.db.$client.query("select ahs_score from ahs.current_score where wallet = $1", [
    wallet.toLowerCase(),
  ]);
  return rows[0].ahs_score;
}
