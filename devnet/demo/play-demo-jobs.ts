import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { type Address, encodeFunctionData, type Hex, parseAbi, toHex } from "viem";
import { connectChain, type LocalChain } from "../../examples/chain.ts";
import { deliverJob, fundJob, type Job, openJob } from "../../examples/deliver-job.ts";
import type { Generation } from "../../examples/escrow-calls.ts";
import { ACCEPTANCE_CRITERIA, OUTPUTS, SPEC_TEXT } from "../../examples/job-texts.ts";
import { contractOf, type UpFile } from "../../examples/up-file.ts";
import { awaitVerdict, post, type Verdict } from "../../examples/verification.ts";
import { roleAccounts } from "../accounts.ts";
import { type JsonRpc, jsonRpc } from "../json-rpc.ts";
import { walletOf } from "../population/wallets.ts";
import type { LocalFiles } from "./local-files.ts";

/** A job or verdict that shows one state. */
type Shown = {
  /** Null for a job of which nothing was delivered. */
  readonly verdictId: string | null;
  readonly escrow: Address | null;
  /** Decimal. */
  readonly jobId: string | null;
};

type DemoJobs = {
  /** Hash of the chain's first block: jobs of a lost chain are played again. */
  readonly chain: Hex;
  readonly shown: Readonly<Partial<Record<StateName, Shown>>>;
};

type Stage = {
  /** The client in the place of the payer, and a provider of its own. */
  readonly up: UpFile;
  readonly chain: LocalChain;
  readonly rpc: JsonRpc;
  readonly scriptedUrl: string;
  /** Secret of an API key that may review. */
  readonly reviewKey: () => Promise<string>;
};

type Play = {
  readonly title: string;
  /** Sends the transactions of client and provider. Null where the verdict is of no job. */
  readonly deliver: (stage: Stage) => Promise<Job | null>;
  /** Resolves once the state is reached. Null for a job without a verdict. */
  readonly judge: ((stage: Stage, job: Job | null) => Promise<string>) | null;
};

/** 25 USDC. */
const BUDGET = 25_000_000n;
/** Escrows take no job that expires within five minutes. */
const SHORT_LIFE_SECONDS = 330;
const EXPIRY_PATIENCE_MS = 900_000;
const POLL_MS = 2_000;
const CLIENT_WEI = 10n ** 19n;
const CLIENT_USDC = 10_000_000_000n;
/** The scripted critic refuses to judge an output with these words, which are no instruction. */
const REFUSED_WORDS = "The scripted critic says nothing about this text.";

/** The plays in their order: jobs that have to expire come first. */
const PLAYS = {
  "hold-expired": {
    title: "HOLD, the job expired and its client was paid back",
    deliver: (stage) => deliver(stage, { generation: "G1", output: OUTPUTS.hold, life: SHORT_LIFE_SECONDS }),
    async judge(stage, job) {
      const { verdict_id } = await judged(stage, job, OUTPUTS.hold, isCompleted);
      await refundOnExpiry(stage, requireJob(job));
      return settledAs(stage, verdict_id, "expired_on_hold");
    },
  },
  expired: {
    title: "ALLOW that came after the job had expired",
    deliver: (stage) => deliver(stage, { generation: "V3", output: OUTPUTS.allow, life: SHORT_LIFE_SECONDS }),
    async judge(stage, job) {
      await refundOnExpiry(stage, requireJob(job));
      const { verdict_id } = await judged(stage, job, OUTPUTS.allow, isCompleted);
      return settledAs(stage, verdict_id, "expired");
    },
  },
  allow: {
    title: "ALLOW, the escrow paid the provider",
    deliver: (stage) => deliver(stage, { generation: "G1", output: OUTPUTS.allow }),
    judge: (stage, job) => judgedAndSettled(stage, job, { output: OUTPUTS.allow, status: "settled" }),
  },
  reject: {
    title: "REJECT, the escrow paid the client back",
    deliver: (stage) => deliver(stage, { generation: "G3", output: OUTPUTS.reject }),
    judge: (stage, job) => judgedAndSettled(stage, job, { output: OUTPUTS.reject, status: "settled" }),
  },
  hold: {
    title: "HOLD, waiting for a reviewer or evidence",
    deliver: (stage) => deliver(stage, { generation: "V3", output: OUTPUTS.hold }),
    judge: (stage, job) => judgedAndSettled(stage, job, { output: OUTPUTS.hold, status: "held" }),
  },
  "hold-reviewed": {
    title: "HOLD, then ALLOW by a reviewer",
    deliver: (stage) => deliver(stage, { generation: "G1", output: OUTPUTS.hold }),
    async judge(stage, job) {
      const { verdict_id } = await judged(stage, job, OUTPUTS.hold, isCompleted);
      const asReviewer = { ...stage.up, api_key: await stage.reviewKey() };
      const review = { decision: "ALLOW", reason: "The client agreed to a shorter note." };
      await post(asReviewer, `/v1/verdicts/${verdict_id}/review`, review);
      return settledAs(stage, verdict_id, "settled");
    },
  },
  "hold-evidence": {
    title: "HOLD with evidence handed in, judged again within ten minutes",
    deliver: (stage) => deliver(stage, { generation: "G3", output: OUTPUTS.hold }),
    async judge(stage, job) {
      const { verdict_id } = await judged(stage, job, OUTPUTS.hold, isCompleted);
      await post(stage.up, `/v1/verdicts/${verdict_id}/evidence`, { text: OUTPUTS.allow, final: false });
      return verdict_id;
    },
  },
  failed: {
    title: "no decision, since the scripted critic refused to answer",
    async deliver(stage) {
      await tellScripted(stage, { refuse: true, roles: ["critic"], text: REFUSED_WORDS });
      return deliver(stage, { generation: "V3", output: `${OUTPUTS.allow} ${REFUSED_WORDS}` });
    },
    judge: async (stage, job) =>
      (await judged(stage, job, `${OUTPUTS.allow} ${REFUSED_WORDS}`, ({ status }) => status === "failed"))
        .verdict_id,
  },
  refused: {
    title: "ALLOW that is never signed, since the job names another evaluator",
    deliver: (stage) =>
      deliver(stage, { generation: "G1", output: OUTPUTS.allow, evaluator: stage.up.payer.address }),
    judge: (stage, job) => judgedAndSettled(stage, job, { output: OUTPUTS.allow, status: "refused" }),
  },
  funded: {
    title: "a funded job, nothing delivered",
    async deliver(stage) {
      const plan = planOf(stage, { generation: "G3", output: "" });
      const job = await openJob(plan);
      await fundJob(plan, job);
      return job;
    },
    judge: null,
  },
  open: {
    title: "an open job, not funded",
    deliver: (stage) => openJob(planOf(stage, { generation: "V3", output: "" })),
    judge: null,
  },
  unbound: {
    title: "ALLOW by a specification that is not the job's",
    deliver: async () => null,
    judge: (stage) => {
      const job = {
        chain_id: stage.up.chain_id,
        escrow: contractOf(stage.up, "jobEscrow"),
        erc8183_job_id: "0x1",
      };
      return judgedAlone(stage, { job, output: OUTPUTS.allow, isThere: isCompleted });
    },
  },
  "no-job": {
    title: "REJECT of an output without a job",
    deliver: async () => null,
    judge: (stage) => judgedAlone(stage, { job: {}, output: OUTPUTS.reject, isThere: isCompleted }),
  },
  "no-job-evidence": {
    title: "HOLD of an output without a job, then ALLOW by evidence",
    deliver: async () => null,
    async judge(stage) {
      const id = await judgedAlone(stage, { job: {}, output: OUTPUTS.hold, isThere: isCompleted });
      await post(stage.up, `/v1/verdicts/${id}/evidence`, { text: OUTPUTS.allow, final: true });
      const { verdict_id } = await awaitVerdict(
        stage.up,
        id,
        ({ final_verdict }) => final_verdict === "ALLOW",
      );
      return verdict_id;
    },
  },
} as const satisfies Readonly<Record<string, Play>>;

type StateName = keyof typeof PLAYS;

/**
 * Plays a job or verdict of every state through the contracts and the API of a running local service, once for each chain. Notes
 * each in the data directory as soon as it is there, so that a later call plays the missing ones. A state that cannot be reached is
 * reported, and the others go on. Returns a line for each state that is shown.
 */
export async function playDemoJobs(demo: {
  readonly up: UpFile;
  readonly scriptedUrl: string;
  readonly files: Pick<LocalFiles, "demoJobsFile">;
  /** Of the chain's population. */
  readonly seed: string;
  readonly reviewKey: Stage["reviewKey"];
  readonly warn: (line: string) => void;
}): Promise<readonly string[]> {
  const { up, files, warn } = demo;
  const rpc = jsonRpc(up.rpc_url);
  const jobs = await storedJobs(files, rpc);
  const missing = PLAY_ORDER.filter((name) => jobs.shown[name] === undefined);
  if (missing.length === 0) return linesOf(jobs.shown, up);
  const stage = await setStage(demo, rpc);
  const judging: Promise<void>[] = [];
  let { shown } = jobs;
  const note = (name: StateName, job: Job | null, verdictId: string | null) => {
    const noted = { verdictId, escrow: job?.escrow ?? null, jobId: job?.jobId.toString() ?? null };
    shown = { ...shown, [name]: noted };
    writeFileSync(files.demoJobsFile, `${JSON.stringify({ ...jobs, shown }, null, 2)}\n`);
  };
  for (const name of missing) {
    const play: Play = PLAYS[name];
    const report = (error: unknown) =>
      warn(`${name} is not shown: ${error instanceof Error ? error.message : String(error)}`);
    try {
      // One after another: client and provider send all of it, and their transactions are numbered.
      const job = await play.deliver(stage);
      if (play.judge === null) note(name, job, null);
      else judging.push(play.judge(stage, job).then((verdictId) => note(name, job, verdictId), report));
    } catch (error) {
      report(error);
    }
  }
  await Promise.all(judging);
  return linesOf(shown, up);
}

function linesOf(shown: DemoJobs["shown"], up: UpFile): readonly string[] {
  return PLAY_ORDER.flatMap((name) => {
    const one = shown[name];
    return one === undefined ? [] : [`  ${placeOf(one, up)}  ${PLAYS[name].title}`];
  });
}

const PLAY_ORDER = Object.keys(PLAYS) as readonly StateName[];

function placeOf({ verdictId, escrow, jobId }: Shown, { base_url }: UpFile): string {
  return verdictId === null ? `job ${jobId} of ${escrow}` : `${base_url}/verdict/${verdictId}`;
}

/** Jobs that were played on this very chain. */
async function storedJobs(
  { demoJobsFile }: Pick<LocalFiles, "demoJobsFile">,
  rpc: JsonRpc,
): Promise<DemoJobs> {
  const first = (await rpc.request("eth_getBlockByNumber", "0x1", false)) as { readonly hash: Hex };
  const anew: DemoJobs = { chain: first.hash, shown: {} };
  if (!existsSync(demoJobsFile)) return anew;
  // Only this module writes the file, and with this type.
  const stored = JSON.parse(readFileSync(demoJobsFile, "utf8")) as DemoJobs;
  return stored.chain === first.hash ? stored : anew;
}

/** A client with test coins, and a provider that nothing else sends for. */
async function setStage(
  { up, scriptedUrl, seed, reviewKey }: Parameters<typeof playDemoJobs>[0],
  rpc: JsonRpc,
): Promise<Stage> {
  const chain = connectChain(up);
  const client = walletOf(seed, "demo-client");
  await rpc.request("anvil_setBalance", client.address, toHex(CLIENT_WEI));
  const data = encodeFunctionData({
    abi: LOCAL_CALLS,
    functionName: "mint",
    args: [client.address, CLIENT_USDC],
  });
  await sendAsDeployer(rpc, { to: contractOf(up, "usdc"), data });
  const provider = await findProvider({ up, seed, chain });
  return {
    up: { ...up, payer: asParty(client), provider: asParty(provider) },
    chain,
    rpc,
    scriptedUrl,
    reviewKey,
  };
}

/** The second wallet of the archetype whose first one takes jobs in scripts; the first where the hooks refuse the second. */
async function findProvider({ up, seed, chain }: { up: UpFile; seed: string; chain: LocalChain }) {
  const [own, scripts] = [walletOf(seed, "weekly-payroll/1"), walletOf(seed, "weekly-payroll/0")];
  const refusal = await chain.refusalOf(contractOf(up, "scoreGateHookG1"), own.address);
  return refusal === null ? own : scripts;
}

function asParty({ address, privateKey }: { readonly address: Address; readonly privateKey: Hex }) {
  return { address, private_key: privateKey };
}

const LOCAL_CALLS = parseAbi([
  "function mint(address to, uint256 amount)",
  "function claimRefund(uint256 jobId)",
]);

/** The node signs for the deployer, and numbers its transactions. */
function sendAsDeployer(rpc: JsonRpc, call: { readonly to: Address; readonly data: Hex }): Promise<unknown> {
  return rpc.request("eth_sendTransaction", { from: roleAccounts().deployer.address, ...call });
}

type Delivery = {
  readonly generation: Generation;
  readonly output: string;
  readonly life?: number;
  readonly evaluator?: Address;
};

function planOf({ up, chain }: Stage, { generation, output, life, evaluator }: Delivery) {
  return {
    up,
    chain,
    generation,
    budget: BUDGET,
    outputText: output,
    say: () => undefined,
    ...(life === undefined ? {} : { lifeSeconds: life }),
    ...(evaluator === undefined ? {} : { evaluator }),
  };
}

function deliver(stage: Stage, delivery: Delivery): Promise<Job> {
  return deliverJob(planOf(stage, delivery));
}

function requireJob(job: Job | null): Job {
  if (job === null) throw new Error("this state needs a job");
  return job;
}

const isCompleted = ({ status }: Verdict): boolean => status === "completed";

async function judged(
  stage: Stage,
  job: Job | null,
  output: string,
  isThere: (verdict: Verdict) => boolean,
): Promise<Verdict> {
  return submit(stage, { specId: requireJob(job).specId, output, isThere });
}

async function submit(
  { up }: Stage,
  { specId, output, isThere }: { specId: string; output: string; isThere: (verdict: Verdict) => boolean },
): Promise<Verdict> {
  const submitted = await post<{ readonly verdict_id: string }>(up, "/v1/outputs", {
    spec_id: specId,
    output_text: output,
    submitted_by: "client",
    submitter_addr: up.payer.address,
    provider_addr: up.provider.address,
  });
  return awaitVerdict(up, submitted.verdict_id, isThere);
}

async function judgedAndSettled(
  stage: Stage,
  job: Job | null,
  { output, status }: { readonly output: string; readonly status: string },
): Promise<string> {
  const { verdict_id } = await judged(stage, job, output, isCompleted);
  return settledAs(stage, verdict_id, status);
}

async function settledAs({ up }: Stage, id: string, status: string): Promise<string> {
  const { verdict_id } = await awaitVerdict(up, id, ({ settlement }) => settlement?.status === status);
  return verdict_id;
}

/** A verdict by a specification that is bound to no job. */
async function judgedAlone(
  stage: Stage,
  { job, output, isThere }: { job: object; output: string; isThere: (verdict: Verdict) => boolean },
): Promise<string> {
  const { up } = stage;
  const { spec_id } = await post<{ readonly spec_id: string }>(up, "/v1/specs", {
    client_addr: up.payer.address,
    provider_addr: up.provider.address,
    spec_text: SPEC_TEXT,
    acceptance_criteria: ACCEPTANCE_CRITERIA,
    domain: "default",
    ...job,
  });
  return (await submit(stage, { specId: spec_id, output, isThere })).verdict_id;
}

/** Waits for the job's expiry on chain, and has its client paid back. */
async function refundOnExpiry({ rpc, chain }: Stage, { escrow, jobId }: Job): Promise<void> {
  const data = encodeFunctionData({ abi: LOCAL_CALLS, functionName: "claimRefund", args: [jobId] });
  const call = { to: escrow, data };
  const deadline = performance.now() + EXPIRY_PATIENCE_MS;
  for (;;) {
    try {
      await rpc.request("eth_call", call, "latest");
      await sendAsDeployer(rpc, call);
      return;
    } catch (error) {
      // The escrow refuses it until the job has expired, and the node a call with the nonce of another one.
      if (performance.now() > deadline)
        throw new Error(`job ${jobId} was not refunded by ${await chain.now()}`, { cause: error });
      await sleep(POLL_MS);
    }
  }
}

async function tellScripted({ scriptedUrl }: Stage, behaviour: object): Promise<void> {
  const answer = await fetch(`${scriptedUrl}/scripted/behaviour`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(behaviour),
  });
  if (!answer.ok) throw new Error(`the scripted model answered ${answer.status}: ${await answer.text()}`);
}
