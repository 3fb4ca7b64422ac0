import { type Abi, encodeFunctionData, erc20Abi, type Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { connectChain, type LocalChain } from "../../examples/chain.ts";
import { deliverJob, type Job } from "../../examples/deliver-job.ts";
import { GENERATIONS, type Generation } from "../../examples/escrow-calls.ts";
import { OUTPUTS } from "../../examples/job-texts.ts";
import { contractOf, type UpFile } from "../../examples/up-file.ts";
import type { Verdict } from "../../examples/verification.ts";
import { assuranceAccountsAbi } from "../../service/chain/abi/assurance-accounts.ts";
import { until } from "../../test/support/until.ts";
import { doubled, type Finding, lost } from "../accounts/finding.ts";
import type { Ask } from "../load/ask.ts";
import { PROVIDER } from "../stand/chain.ts";
import type { Stand, StandKey } from "../stand/stand.ts";
import { usdcOf } from "./edge-account.ts";
import { fundAccount } from "./edge-buyers.ts";

type PlayedJob = {
  readonly name: string;
  readonly generation: Generation;
  readonly outcome: "allow" | "reject";
  readonly job: Job;
  readonly isAppealed: boolean;
  isSettled: boolean;
};

/** Orders and pays for the jobs; nothing else uses it. */
const CLIENT_KEY: Hex = `0x${"c1".repeat(32)}`;
const BUDGET = 2_000_000n;
const COMMITTED = 3_000_000n;
const DEPOSIT = 60_000_000n;
const CLIENT_FUNDS = 1_000_000_000n;
const JOB_TIMEOUT_MS = 240_000;

/**
 * Plays jobs on each generation until `isOver`: good and bad deliveries in turns, some decisions appealed, and a bond committed to
 * each bad one, which its client slashes twice. Accounts for every budget and for the bond.
 */
export async function playJobs(
  stand: Stand,
  asking: { readonly ask: Ask; readonly key: StandKey },
  isOver: () => boolean,
): Promise<{ readonly findings: readonly Finding[]; readonly jobs: number }> {
  const up = upFileOf(stand, asking.key);
  const playing = { up, chain: connectChain(up), bonds: bondCalls(up) };
  const { chain, bonds } = playing;
  await fundAccount(stand, up.payer.address, CLIENT_FUNDS);
  await chain.send(up.payer.private_key, bonds.approve());
  await chain.send(up.payer.private_key, bonds.deposit());
  const played: PlayedJob[] = [];
  while (!isOver()) {
    const number = played.length;
    const generation = GENERATIONS[number % GENERATIONS.length] ?? "G1";
    const outcome = number % 2 === 0 ? "reject" : "allow";
    const job = await deliver(playing, { generation, outcome });
    if (outcome === "reject") await chain.send(up.provider.private_key, bonds.commit(job));
    const name = `job ${job.jobId} of ${generation}`;
    played.push({ name, generation, outcome, job, isAppealed: number % 4 > 1, isSettled: false });
  }
  await Promise.all(played.map((one) => judge(one, playing, asking)));
  const findings: Finding[] = [];
  for (const one of played) {
    findings.push(...(await accountJob(one, playing)));
    if (one.outcome === "allow" || !one.isSettled) continue;
    const paid = await slashTwice(stand, one, playing);
    if (paid < COMMITTED) findings.push(lost(`the bond paid ${paid} for ${one.name}`));
    if (paid > COMMITTED) findings.push(doubled(`the bond paid ${paid} for ${one.name}`));
  }
  return { findings, jobs: played.length };
}

/** The running services in the form that the examples read. */
function upFileOf(stand: Stand, key: StandKey): UpFile {
  const { test } = stand.chain();
  const [server] = stand.services.servers();
  if (server === undefined) throw new Error("no server runs");
  return {
    rpc_url: test.rpcUrl,
    chain_id: test.deployment.chainId,
    contracts: { ...test.contracts },
    base_url: server,
    verify_base_url: server,
    database_url: stand.databaseUrl,
    api_key: key.secret,
    payer: { address: privateKeyToAccount(CLIENT_KEY).address, private_key: CLIENT_KEY },
    provider: { address: PROVIDER.address, private_key: PROVIDER.privateKey },
    samples: {},
  };
}

type Playing = {
  readonly up: UpFile;
  readonly chain: LocalChain;
  readonly bonds: ReturnType<typeof bondCalls>;
};

/** A server that is killed answers nothing: the job is left without money, and another one is opened. */
async function deliver(
  { up, chain }: Playing,
  { generation, outcome }: Pick<PlayedJob, "generation" | "outcome">,
): Promise<Job> {
  const patience = { what: `a job of ${generation} is delivered`, timeoutMs: JOB_TIMEOUT_MS };
  const plan = { up, chain, generation, budget: BUDGET, outputText: OUTPUTS[outcome], say: () => undefined };
  return until(patience, () => deliverJob(plan).catch(() => null));
}

/** Has the delivery judged, and appealed where it is to be, until it is settled. */
async function judge(
  one: PlayedJob,
  { up }: Playing,
  { ask, key }: { ask: Ask; key: StandKey },
): Promise<void> {
  const headers = { "content-type": "application/json", "x-api-key": key.secret };
  const body = JSON.stringify({
    spec_id: one.job.specId,
    output_text: OUTPUTS[one.outcome],
    submitted_by: "client",
    submitter_addr: up.payer.address,
    provider_addr: up.provider.address,
  });
  const patience = { what: `${one.name} is settled`, timeoutMs: JOB_TIMEOUT_MS };
  let verdictId: string | null = null;
  let isOpen = one.isAppealed;
  await until(patience, async () => {
    const asked = await ask(
      verdictId === null
        ? { method: "POST", path: "/v1/outputs", headers, body }
        : { method: "GET", path: `/v1/verdicts/${verdictId}`, headers, body: null },
    );
    if (asked.kind !== "answered") return null;
    const verdict = JSON.parse(asked.body) as Pick<Verdict, "verdict_id" | "appeal" | "settlement">;
    verdictId ??= verdict.verdict_id;
    if (isOpen && verdict.appeal?.status === "available") {
      const path = `/v1/verdicts/${verdictId}/appeal?price_usd=${verdict.appeal.price_usd}`;
      isOpen = (await ask({ method: "POST", path, headers, body: "{}" })).kind === "again";
      return null;
    }
    if (verdict.settlement?.status !== "settled") return null;
    one.isSettled = true;
    return true;
  }).catch(() => null);
}

const ENDS = {
  allow: { status: "Completed", to: "provider" },
  reject: { status: "Rejected", to: "payer" },
} as const;

/** The escrow has ended the job as its output deserves, and paid its budget once. */
async function accountJob({ name, generation, outcome, job, isSettled }: PlayedJob, { up, chain }: Playing) {
  if (!isSettled) return [lost(`${name} is not settled`)];
  const end = ENDS[outcome];
  const status = await chain.statusOf(generation, job.escrow, job.jobId);
  const payments = await chain.paymentsOf(job.escrow, job.jobId);
  if (payments.length > 1) return [doubled(`${name} paid ${payments.length} times`)];
  const [paid] = payments;
  const isRight = status === end.status && paid?.amount === BUDGET && paid.to === up[end.to].address;
  return isRight ? [] : [lost(`${name} is ${status} and paid ${paid?.amount} to ${paid?.to}`)];
}

/** Has the client paid from the bond, and tries it again; returns the units that the client received. */
async function slashTwice(stand: Stand, { job }: PlayedJob, { up, chain, bonds }: Playing): Promise<bigint> {
  const before = await usdcOf(stand, up.payer.address);
  for (const _time of [1, 2])
    await chain.send(up.payer.private_key, bonds.slash(job)).catch(() => "refused by the contract");
  return (await usdcOf(stand, up.payer.address)) - before;
}

/** Calls of the bonds' contract and of its token. */
function bondCalls(up: UpFile) {
  const [bonds, usdc] = [contractOf(up, "assuranceAccounts"), contractOf(up, "usdc")];
  const call = (functionName: "commitToJob" | "slash" | "depositAssuranceFor", args: readonly unknown[]) => ({
    to: bonds,
    data: encodeFunctionData({ abi: assuranceAccountsAbi as Abi, functionName, args }),
  });
  return {
    approve: () => ({
      to: usdc,
      data: encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [bonds, DEPOSIT] }),
    }),
    deposit: () => call("depositAssuranceFor", [up.provider.address, DEPOSIT]),
    commit: ({ escrow, jobId }: Job) => call("commitToJob", [escrow, jobId, COMMITTED]),
    slash: ({ escrow, jobId }: Job) => call("slash", [escrow, jobId]),
  };
}
