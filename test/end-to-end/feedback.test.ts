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
import { usdCoinAbi } from "../../service/chain/abi/usd-coin.ts";
import { validationRegistryAbi } from "../../service/chain/abi/validation-registry.ts";
import type { Script } from "../support/anvil-testkit/script.ts";
import type { TestServer } from "../support/anvil-testkit/services.ts";
import { useTestkit } from "../support/anvil-testkit/testkit.ts";
import { until } from "../support/until.ts";

const AGENT = getAddress("0x00000000000000000000000000000000000a9e01");
const AGENT_ID = 0n;
const [PAYER, STRANGER, CLIENT] = [
  getAddress("0x00000000000000000000000000000000000ba1d0"),
  getAddress("0x00000000000000000000000000000000000ba1d1"),
  getAddress("0x00000000000000000000000000000000000ba1d2"),
];
const CALLS = 40;
const USD = 1_000_000n;
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
  await payAndRate();
  await chain.mine(60, 1);
  await chain.toWallClock();
  await kit.startIndexer();
  server = await kit.startServer();
  worker = kit.startWorker(ofWorker());
  kit.startMining(500);
});

test("the agent of a scored wallet has our score in the registry, with a document to check it", async () => {
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

test("feedback of a payer is in the seller profile, and that of a stranger is not", async () => {
  await until({ what: "stored feedback", timeoutMs: 60_000 }, async () => {
    const { rows } = await kit.db.$client.query("select client from ahs.paid_feedback");
    return rows.length > 0 ? true : null;
  });
  // Backing is renewed after five minutes of chain time.
  await kit.chain.moveTime(400);
  const feedback = await until({ what: "feedback of payers", timeoutMs: 150_000 }, async () => {
    const { rows } = await kit.db.$client.query(
      "select seller_profile -> 'feedback' as feedback from ahs.wallet_backing where wallet = $1",
      [AGENT.toLowerCase()],
    );
    return rows[0]?.feedback?.payers > 0 ? rows[0].feedback : null;
  });
  expect(feedback).toEqual({ payers: 1, tags: [{ tag: "starred", payers: 1, median: 87.5 }] });
});

test("a validation that the agent asks for is answered with its score", async () => {
  const answered = await validate({ type: "ahs" });
  expect([answered.response, answered.tag]).toEqual([await scoreOf(AGENT), "ahs"]);
});

test("a verdict on the agent's output is put into the validation registry, without its id", async () => {
  const outputHash = keccak256(toHex("an output"));
  const { rows: specs } = await kit.db.$client.query(
    `insert into ahs.job_spec (id, client_addr, provider_addr, spec_text, acceptance_criteria, domain, spec_hash, created_at)
     values (gen_random_uuid(), $1, $2, 'a note', 'has a word', 'content', $3, now()) returning id`,
    [CLIENT.toLowerCase(), AGENT.toLowerCase(), keccak256(toHex("a spec"))],
  );
  const [{ id: specId }] = specs;
  const { rows: verdicts } = await kit.db.$client.query(
    `insert into ahs.verdict (id, spec_id, slot, output_hash, submitted_by, submitter_addr, provider_addr, owner, units, status,
       not_before, cause, runs, final_verdict, created_at, accepted_at, evaluated_at, updated_at)
     values (gen_random_uuid(), $1, 'feedback', $2, 'agent', $3, $3, 'key:test', 500, 'completed', now(), 'submitted', 1, 'REJECT',
       now(), now(), now(), now()) returning id`,
    [specId, outputHash, AGENT.toLowerCase()],
  );
  const [{ id }] = verdicts;
  const result = { final_verdict: "REJECT", final_score: 21, confidence: 0.9, methodology: {}, review: null };
  await kit.db.$client.query(
    `insert into ahs.verdict_run (verdict_id, run, cause, final_verdict, result, evidence, evidence_hash, created_at)
     values ($1, 1, 'submitted', 'REJECT', $2, '{}', $3, now())`,
    [id, JSON.stringify(result), keccak256("0x0e")],
  );
  const answered = await validate({ type: "ahm-verify", specId, outputHash });
  expect([answered.response, answered.tag]).toEqual([21, "ahm-verify:reject"]);
  expect(answered.document).not.toContain(id);
  expect(JSON.parse(answered.document).verdict).toMatchObject({
    final_verdict: "REJECT",
    evidence_hash: keccak256("0x0e"),
    job: null,
  });
});

/** Leaves feedback as a client that paid the agent, and as one that did not. */
async function payAndRate(): Promise<void> {
  const { rpc, contracts, send } = kit.chain;
  const [owner] = (await rpc.request("eth_accounts")) as [Address];
  const ofUsdc = (functionName: "mint" | "transfer", to: Address) =>
    encodeFunctionData({ abi: usdCoinAbi, functionName, args: [to, 3n * USD] });
  for (const account of [PAYER, STRANGER]) await rpc.request("anvil_setBalance", account, toHex(10n ** 18n));
  const rate = (value: bigint, decimals: number) =>
    encodeFunctionData({
      abi: reputationRegistryAbi,
      functionName: "giveFeedback",
      args: [AGENT_ID, value, decimals, "starred", "", "", "", keccak256("0x")],
    });
  for (const call of [
    { from: owner, to: contracts.usdc, data: ofUsdc("mint", PAYER) },
    { from: PAYER, to: contracts.usdc, data: ofUsdc("transfer", AGENT) },
    { from: PAYER, to: contracts.reputationRegistry, data: rate(875n, 1) },
    { from: STRANGER, to: contracts.reputationRegistry, data: rate(1n, 0) },
  ])
    expect((await send(call)).status).toBe("success");
}

/** Requests a validation as the agent, and returns the answer with its document. */
async function validate(asked: object) {
  const { identityRegistry, validationRegistry } = kit.chain.contracts;
  const agentRegistry = `eip155:31337:${identityRegistry}`;
  const body = JSON.stringify({ ...asked, agentRegistry, agentId: Number(AGENT_ID), salt: "first" });
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
      args: { requestHash: keccak256(toHex(body)) },
    });
    return logs[0]?.args ?? null;
  });
  const document = await (await fetch(answered.responseURI ?? "")).text();
  expect(keccak256(toHex(document))).toBe(answered.responseHash);
  return { ...answered, document };
}

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
    given: () =>
      client.getContractEvents({
        ...contract,
        eventName: "NewFeedback",
        fromBlock: 0n,
        args: { clientAddress: US },
      }),
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
