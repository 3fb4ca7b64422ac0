import {
  type Address,
  createPublicClient,
  encodeFunctionData,
  http,
  keccak256,
  numberToHex,
  toBytes,
} from "viem";
import { beforeAll, expect, test } from "vitest";
import { privateKeyOf, roleAccounts } from "../../devnet/accounts.ts";
import { type ScriptedModel, startScriptedModel } from "../../devnet/scripted-model/start-scripted-model.ts";
import { assuranceAccountsAbi } from "../../service/chain/abi/assurance-accounts.ts";
import { usdCoinAbi } from "../../service/chain/abi/usd-coin.ts";
import { hashSpec } from "../../service/verification/panel/hashes.ts";
import {
  BUDGET,
  CLIENT,
  jobActions,
  PROVIDER,
  STRANGER,
  type TestJob,
  views,
} from "../service/verification/escrow/jobs-on-chain.ts";
import type { Script } from "../support/anvil-testkit/script.ts";
import type { TestIndexer, TestServer } from "../support/anvil-testkit/services.ts";
import { useTestkit } from "../support/anvil-testkit/testkit.ts";
import { CHAT_TEMPLATES } from "../support/chat-templates.ts";
import { startTurnServer } from "../support/scripted-turn-server.ts";
import { createTestKey, readBalance } from "../support/test-keys.ts";
import { until } from "../support/until.ts";

const BLOCK_MS = 400;
/** In the smallest unit. */
const USDC = 1_000_000n;
const APPEAL_SECONDS = 6;
const BALANCE = 1_000_000;
const ADMIN = { method: "POST", headers: { "content-type": "application/json" } };
const BALLOTS = ["criteria_auditor", "domain_expert", "evidence_checker", "user_advocate"];
const { relayer, verdictSigner } = roleAccounts();

const kit = useTestkit({ ageSeconds: 7_200 });
let server: TestServer;
let indexer: TestIndexer;
let work: () => Script;
let model: ScriptedModel;
let key: { readonly id: string; readonly secret: string };
let firstJob: bigint;
let ask: (path: string, body?: object) => Promise<{ readonly [member: string]: unknown }>;

beforeAll(async () => {
  await kit.chain.rpc.request("anvil_setBalance", PROVIDER, numberToHex(10n ** 20n));
  model = await startScriptedModel({ chainId: 31_337 });
  kit.onClose(model.stop);
  const own = {
    env: {
      PANEL_BASE_URL: model.baseUrl,
      PANEL_MODEL: model.model,
      PANEL_APPEAL_BASE_URL: model.baseUrl,
      PANEL_APPEAL_MODEL: model.appealModel,
      APPEAL_WINDOW_SECONDS: String(APPEAL_SECONDS),
      HISTORY_SOURCE: "none",
      MAX_INDEX_AGE_SECONDS: "3600",
      VERDICT_SIGNER_PRIVATE_KEY: privateKeyOf(verdictSigner),
      RELAYER_PRIVATE_KEY: privateKeyOf(relayer),
    },
  };
  work = () => kit.startWorker(own);
  indexer = await kit.startIndexer();
  server = await kit.startServer(own);
  key = await createTestKey(kit.db, BALANCE);
  ask = async (path, body) => {
    const answer = await fetch(server.baseUrl + path, {
      headers: { "content-type": "application/json", "x-api-key": key.secret },
      ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${text}`);
    return JSON.parse(text) as { readonly [member: string]: unknown };
  };
  kit.startMining(BLOCK_MS, 2);
});

test("a job is paid by the verdict on its output, once, though the worker is killed between signing and sending", async () => {
  const { balances } = views(kit.chain);
  let worker = work();
  const { job, verdictId } = await deliver();
  firstJob = job.jobId;
  const before = await balances();

  // A relayer without money cannot send signed verdicts.
  await kit.chain.rpc.request("anvil_setBalance", relayer.address, "0x0");
  await reach(verdictId, "appealable");
  expect(await ask(`/v1/verdicts/${verdictId}`)).toMatchObject({
    progress: null,
    methodology: {
      voting: { money: { released_usd: Number(BUDGET) / 1_000_000 }, not_asked: [{ role: "synthesiser" }] },
    },
  });
  await reach(verdictId, "signed");
  await worker.kill();
  const { length } = worker.log();
  worker = work();
  await until({ what: "another worker tries to send it" }, async () =>
    worker.log().slice(length).includes("transaction postponed") ? true : null,
  );
  await worker.kill();
  expect(await balances()).toEqual(before);
  await kit.chain.rpc.request("anvil_setBalance", relayer.address, numberToHex(10n ** 20n));
  worker = work();

  const settled = await reach(verdictId, "settled");
  expect(await balances()).toEqual({ ...before, provider: before.provider + BUDGET });
  await expectReason(job, { verdictId, transaction: String(settled.tx_hash) });
  await expectOnce(job, "ALLOW");
  await worker.kill();
}, 240_000);

test("an appeal overturns a REJECT, and the job is paid once, though the worker is killed while the second panel judges", async () => {
  const { balances } = views(kit.chain);
  let worker = work();
  await behave({ disagree: true, roles: BALLOTS, models: [model.model] });
  const { job, verdictId } = await deliver();
  const before = await balances();
  const balance = await readBalance(kit.db, key.id);
  await reach(verdictId, "appealable");
  expect(await ask(`/v1/verdicts/${verdictId}`)).toMatchObject({
    final_verdict: "REJECT",
    appeal: { status: "available", appealed_run: 1, price_usd: "1.250", by: null },
  });

  await behave({ hang: true, models: [model.appealModel] });
  const path = `/v1/verdicts/${verdictId}/appeal?price_usd=1.25`;
  expect(await ask(path, {})).toMatchObject({ verdict_id: verdictId, status: "open" });
  expect(await ask(path, {})).toMatchObject({ status: "open" });
  await until({ what: "the second panel judges" }, async () => {
    const { rerun } = await ask(`/v1/verdicts/${verdictId}`);
    return (rerun as { status: string } | null)?.status === "processing" ? true : null;
  });
  await worker.kill();
  await behave({});
  expect((await settlementOf(verdictId)).status).toBe("appealed");
  worker = work();

  const settled = await reach(verdictId, "settled");
  expect(await ask(`/v1/verdicts/${verdictId}`)).toMatchObject({
    final_verdict: "ALLOW",
    appeal: { status: "overturned", appealed_run: 1, by: "submitter" },
    methodology: {
      models: Object.fromEntries(
        [...BALLOTS, "critic", "synthesiser"].map((role) => [role, model.appealModel]),
      ),
      runs: [
        { run: 1, cause: "submitted", final_verdict: "REJECT" },
        { run: 2, cause: "appeal", final_verdict: "ALLOW" },
      ],
    },
  });
  expect(await balances()).toEqual({ ...before, provider: before.provider + BUDGET });
  expect(await readBalance(kit.db, key.id)).toBe(balance);
  await expectReason(job, { verdictId, transaction: String(settled.tx_hash) });
  await expectOnce(job, "ALLOW");
  expect(await ask("/v1/appeals")).toMatchObject({ decided: 1, overturned: 1, overturn_rate: 1 });
  await worker.kill();
}, 240_000);

test("an appeal that ends in HOLD keeps its price and the REJECT, which refunds the client at once", async () => {
  const { balances } = views(kit.chain);
  const worker = work();
  await behave({ disagree: true, roles: BALLOTS, models: [model.model] });
  const { job, verdictId } = await deliver();
  const before = await balances();
  const balance = await readBalance(kit.db, key.id);
  await reach(verdictId, "appealable");
  await behave({ disagree: true, models: [model.appealModel] });
  await ask(`/v1/verdicts/${verdictId}/appeal?price_usd=1.25`, {});
  const settled = await reach(verdictId, "settled");
  await behave({});
  expect(await ask(`/v1/verdicts/${verdictId}`)).toMatchObject({
    final_verdict: "REJECT",
    appeal: { status: "held", appealed_run: 1, by: "submitter" },
    methodology: {
      models: { critic: model.model },
      runs: [
        { run: 1, cause: "submitted", final_verdict: "REJECT" },
        { run: 2, cause: "appeal", final_verdict: "HOLD" },
      ],
    },
  });
  expect(await balances()).toEqual({ ...before, client: before.client + BUDGET });
  expect(await readBalance(kit.db, key.id)).toBe(balance - 1_250);
  await expectReason(job, { verdictId, transaction: String(settled.tx_hash) });
  await expectOnce(job, "REJECT");
  await worker.kill();
}, 240_000);

test("a bond changes no routing answer, and one settled REJECT slashes it once, though indexer and worker are killed", async () => {
  const { chain } = kit;
  const { assuranceAccounts, usdc } = chain.contracts;
  let worker = work();
  await chain.register(PROVIDER);
  await chain.rpc.request("anvil_setBalance", STRANGER, numberToHex(10n ** 20n));
  const approval = {
    abi: usdCoinAbi,
    functionName: "approve",
    args: [assuranceAccounts, 1_000n * USDC],
  } as const;
  await chain.send({ from: CLIENT.address, to: usdc, data: encodeFunctionData(approval) });
  await callBond(CLIENT.address, "depositAssuranceFor", [PROVIDER, 1_000n * USDC]);
  // Routing answers by an index that is no older than an hour, and not in the future: this test moves the chain's time.
  await chain.toWallClock(1_800);
  await settleByAmount();
  await expectNoHelpBy(1_000);

  await behave({ disagree: true, roles: BALLOTS, models: [model.model] });
  const { job, verdictId } = await deliver(async ({ escrow, jobId }) => {
    await callBond(PROVIDER, "commitToJob", [escrow, jobId, 30n * USDC]);
    await Promise.all([indexer.kill(), worker.kill()]);
    await callBond(PROVIDER, "requestWithdrawal", [4n * USDC]);
    indexer = await kit.startIndexer();
    worker = work();
  });
  await reach(verdictId, "appealable");
  // A quarter of the budget and of the committed bond.
  expect(await ask(`/v1/verdicts/${verdictId}`)).toMatchObject({ appeal: { price_usd: "8.750" } });
  await expect(slash(job)).rejects.toThrow("reverted");
  await reach(verdictId, "settled");
  await expectOnce(job, "REJECT");
  const before = await views(chain).balances();
  await slash(job);
  await expect(slash(job)).rejects.toThrow("reverted");
  expect(await views(chain).balances()).toEqual({ ...before, client: before.client + 30n * USDC });

  // A pass over all backing is due after five minutes of chain time.
  await chain.moveTime(400);
  await expectNoHelpBy(966);
  const { rows } = await kit.db.$client.query(
    "select available::float8 from chain_31337.bond_change where wallet = $1 order by block",
    [PROVIDER.toLowerCase()],
  );
  expect(rows).toEqual([{ available: 1_000e6 }, { available: 970e6 }, { available: 966e6 }]);
}, 240_000);

test("the worker ends with an error on a model whose server reads control tokens within messages", async () => {
  const [template] = CHAT_TEMPLATES;
  if (template === undefined) throw new Error("there are templates");
  const turns = await startTurnServer({ template, baseUrl: model.baseUrl });
  kit.onClose(turns.stop);
  const env = { PANEL_BASE_URL: turns.baseUrl, PANEL_MODEL: model.model, HISTORY_SOURCE: "none" };
  const worker = kit.startWorker({ env });
  expect(await worker.exited).toBe(1);
  expect(worker.log()).toContain(
    `the panel does not start: the server of the model ${model.model} reads the control token <|im_`,
  );
}, 60_000);

const slash = ({ escrow, jobId }: TestJob) => callBond(STRANGER, "slash", [escrow, jobId]);

/** Sends a call to the accounts for bonds; throws if it reverts. */
function callBond(
  from: Address,
  functionName: "depositAssuranceFor" | "commitToJob" | "requestWithdrawal" | "slash",
  args: readonly unknown[],
): Promise<number> {
  const data = encodeFunctionData({ abi: assuranceAccountsAbi, functionName, args } as never);
  return jobActions(kit.chain).send(from, kit.chain.contracts.assuranceAccounts, data);
}

/** Waits until answers show a bond of so many US dollars: the provider's safe amount is half of its cost basis, and decides all the same. */
async function expectNoHelpBy(bondUsd: number): Promise<void> {
  await kit.chain.mine(2 * kit.chain.deployment.finalityBlocks + 1);
  await indexer.reach(await kit.chain.head());
  const { backing } = await until({ what: `a bond of ${bondUsd} USD`, timeoutMs: 90_000 }, async () => {
    const route = await ask(`/ahs/route/${PROVIDER}`);
    const known = route.backing as Backing | null;
    return known?.bond_usd === bondUsd ? { ...route, backing: known } : null;
  });
  expect(backing.safe_amount_usd).toBe(Math.floor((backing.cost_basis_usd * 1e6) / 2) / 1e6);
  expect(backing.safe_amount_usd).toBeLessThan(5);
  expect(await ask(`/ahs/route/${PROVIDER}`)).toMatchObject({ action: "instant_settle" });
  for (const amount of [5, 900])
    expect(await ask(`/ahs/route/${PROVIDER}?amount_usd=${amount}`)).toMatchObject({
      action: "escrow",
      reason: "above_safe_amount",
    });
}

type Backing = {
  readonly [member in "safe_amount_usd" | "cost_basis_usd" | "bond_usd"]: number;
};

/** Has the caller's routing settle with wallets of any history, so that amounts alone decide. */
async function settleByAmount(): Promise<void> {
  const answer = await fetch(`${server.baseUrl}/ahs/route/policy`, {
    method: "PUT",
    headers: { "content-type": "application/json", "x-api-key": key.secret },
    body: JSON.stringify({ insufficient_action: "instant_settle" }),
  });
  expect(answer.status).toBe(200);
}

/** Sets how the scripted model answers from now on. */
async function behave(behaviour: object): Promise<void> {
  const answer = await fetch(`${model.origin}/scripted/behaviour`, {
    ...ADMIN,
    body: JSON.stringify(behaviour),
  });
  expect(answer.status).toBe(200);
}

/** Waits until the settlement of a verdict has this status. */
function reach(verdictId: string, status: string): Promise<{ readonly [member: string]: unknown }> {
  return until({ what: `the settlement is ${status}` }, async () => {
    const settlement = await settlementOf(verdictId);
    return settlement.status === status ? settlement : null;
  });
}

/**
 * A funded job by a registered specification, with work that meets it submitted on chain and to the service. Between the two the
 * provider may do more.
 */
async function deliver(
  betweenSubmissions: (job: TestJob) => Promise<void> = async () => undefined,
): Promise<{ job: TestJob; verdictId: string }> {
  const spec = {
    client_addr: CLIENT.address,
    provider_addr: PROVIDER,
    spec_text: "Name three rivers of Europe.",
    acceptance_criteria: "1. Names three rivers of Europe",
    domain: "content",
  };
  const specHash = hashSpec({
    clientAddr: CLIENT.address,
    providerAddr: PROVIDER,
    specText: spec.spec_text,
    acceptanceCriteria: spec.acceptance_criteria,
    domain: spec.domain,
  });
  const { openJob, submit } = jobActions(kit.chain);
  const job = await openJob({ description: `Three rivers, please. ahs-spec:${specHash}` });
  const named = { erc8183_job_id: numberToHex(job.jobId), escrow: job.escrow };
  const registered = await ask("/v1/specs", { ...spec, ...named });
  expect(registered.spec_hash).toBe(specHash);
  const output = "Three rivers of Europe that this names: Rhine, Elbe, Oder.";
  const hand = () =>
    ask("/v1/outputs", {
      spec_id: registered.spec_id,
      output_text: output,
      submitted_by: "agent",
      submitter_addr: PROVIDER,
      provider_addr: PROVIDER,
    });
  await expect(hand()).rejects.toThrow("409 ");
  await submit(job, output);
  await betweenSubmissions(job);
  const wait = { what: "the index shows the submission" };
  const accepted = await until(wait, () =>
    hand().catch((error: Error) => {
      if (error.message.includes("problem-job-not-submitted")) return null;
      throw error;
    }),
  );
  return { job, verdictId: String(accepted.verdict_id) };
}

async function settlementOf(verdictId: string): Promise<{ readonly [member: string]: unknown }> {
  const { settlement } = await ask(`/v1/verdicts/${verdictId}`);
  return settlement as { readonly [member: string]: unknown };
}

/** The escrow's own event gives the hash of the evidence that is served. */
async function expectReason(
  job: TestJob,
  { verdictId, transaction }: { readonly verdictId: string; readonly transaction: string },
): Promise<void> {
  const served = await fetch(`${server.baseUrl}/v1/verdicts/${verdictId}/evidence`);
  const hash = keccak256(toBytes(await served.text()));
  const client = createPublicClient({ transport: http(kit.chain.rpcUrl) });
  const { logs } = await client.getTransactionReceipt({ hash: transaction as `0x${string}` });
  const ofEscrow = logs.filter((log) => log.address.toLowerCase() === job.escrow);
  expect(ofEscrow.some(({ data }) => data === hash)).toBe(true);
}

/** One signature, one transaction of the relayer for each job. */
async function expectOnce(job: TestJob, decision: string): Promise<void> {
  const { rows } = await kit.db.$client.query(
    "select decision, state from ahs.settlement where escrow = $1 and job_id = $2",
    [job.escrow, String(job.jobId)],
  );
  expect(rows).toEqual([{ decision, state: "confirmed" }]);
  const sent = await kit.chain.rpc.request("eth_getTransactionCount", relayer.address, "latest");
  expect(BigInt(String(sent))).toBe(job.jobId - firstJob + 1n);
}
