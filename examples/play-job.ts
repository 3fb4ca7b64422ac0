import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { formatUnits } from "viem";
import { connectChain, type LocalChain } from "./chain.ts";
import { deliverJob, type Job } from "./deliver-job.ts";
import { GENERATIONS, type Generation, type Status } from "./escrow-calls.ts";
import { OUTCOMES, OUTPUTS, type Outcome } from "./job-texts.ts";
import { readUpFile, type UpFile } from "./up-file.ts";
import { awaitVerdict, post, type Verdict } from "./verification.ts";

/**
 * Plays jobs through against a running `npm start`: from the specification's hash to what the escrow does with the money.
 *
 *   npx node examples/play-job.ts [--outcome allow|hold|reject|all] [--generation G1|G3|V3|all] [--appeal] [--data-dir .ahs]
 *
 * Several jobs are delivered one after another and judged at once. Ends with 1 where a job did not end as its output deserves. A model that judges may think otherwise than the scripted one.
 * With --appeal the second panel decides each ALLOW and REJECT anew.
 */

/** 25 USDC. */
const BUDGET = 25_000_000n;
const POLL_MS = 500;
const PATIENCE_MS = 60_000;

type Play = {
  readonly up: UpFile;
  /** Where `up` was read, and the service keeps its files. */
  readonly dataDir: string;
  readonly chain: LocalChain;
  readonly generation: Generation;
  readonly outcome: Outcome;
  /** Whether the first decision is appealed; then it may be wrong. */
  readonly isAppealed: boolean;
  readonly say: (line: string) => void;
};

type End = {
  readonly verdict: string;
  readonly settlement: string;
  readonly status: Status;
  /** Payment out of the job's budget, with its receiver. */
  readonly payments: readonly { readonly to: "client" | "provider"; readonly amount: bigint }[];
};

const ENDS: Readonly<Record<Outcome, End>> = {
  allow: {
    verdict: "ALLOW",
    settlement: "settled",
    status: "Completed",
    payments: [{ to: "provider", amount: BUDGET }],
  },
  hold: { verdict: "HOLD", settlement: "held", status: "Submitted", payments: [] },
  reject: {
    verdict: "REJECT",
    settlement: "settled",
    status: "Rejected",
    payments: [{ to: "client", amount: BUDGET }],
  },
};

try {
  const { up, dataDir, generations, outcomes, isAppealed } = readArguments();
  const chain = connectChain(up);
  const games = generations.flatMap((generation) =>
    outcomes.map(
      (outcome): Play => ({
        up,
        dataDir,
        chain,
        generation,
        outcome,
        isAppealed: isAppealed && outcome !== "hold",
        say: sayOf(generation, outcome),
      }),
    ),
  );
  const jobs = [];
  // One after another: client and provider send all of it, and their transactions are numbered.
  for (const game of games) jobs.push({ game, job: await deliver(game) });
  await Promise.all(jobs.map(({ game, job }) => finish(game, job)));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

function readArguments() {
  const { values } = parseArgs({
    options: {
      outcome: { type: "string", default: "allow" },
      generation: { type: "string", default: "all" },
      appeal: { type: "boolean", default: false },
      "data-dir": { type: "string", default: ".ahs" },
    },
  });
  return {
    up: readUpFile(values["data-dir"]),
    dataDir: values["data-dir"],
    generations: choose("generation", GENERATIONS, values.generation),
    outcomes: choose("outcome", OUTCOMES, values.outcome),
    isAppealed: values.appeal,
  };
}

function choose<Choice extends string>(
  name: string,
  choices: readonly Choice[],
  given: string,
): readonly Choice[] {
  if (given === "all") return choices;
  const chosen = choices.filter((choice) => choice === given);
  if (chosen.length === 0) throw new Error(`--${name} is ${choices.join(", ")} or all, not ${given}.`);
  return chosen;
}

function deliver({ up, chain, generation, outcome, say }: Play): Promise<Job> {
  return deliverJob({ up, chain, generation, budget: BUDGET, outputText: OUTPUTS[outcome], say });
}

/** From the delivery to what the escrow did; throws where that is not what the output deserves. */
async function finish(game: Play, job: Job): Promise<void> {
  const { up, chain, outcome, say } = game;
  const first = await judge(game, job);
  const verdict = game.isAppealed ? await appeal(game, first) : first;
  requireDecision(game, verdict);
  const status = await watch(game, { job, verdict });
  const names = { [up.payer.address]: "client", [up.provider.address]: "provider" };
  const payments = await chain.paymentsOf(job.escrow, job.jobId);
  const paid = payments.map(({ to, amount }) => `${usd(amount)} USDC to the ${names[to] ?? to}`).join(", ");
  say(`the escrow paid ${paid === "" ? "nobody" : paid}`);
  const expected = ENDS[outcome];
  const due = expected.payments.map(({ to, amount }) => `${usd(amount)} USDC to the ${to}`).join(", ");
  if (status !== expected.status || paid !== due) {
    throw new Error(
      `The job is ${status} and paid "${paid}": ${outcome} ends as ${expected.status}, paying "${due}".`,
    );
  }
}

async function judge({ up, outcome, say }: Play, { specId }: Job): Promise<Verdict> {
  const submitted = await post<{ readonly verdict_id: string }>(up, "/v1/outputs", {
    spec_id: specId,
    output_text: OUTPUTS[outcome],
    submitted_by: "client",
    submitter_addr: up.payer.address,
    provider_addr: up.provider.address,
  });
  const verdict = await awaitVerdict(up, submitted.verdict_id, ({ status }) => status === "completed");
  const { final_verdict, final_score, confidence, reasoning } = verdict;
  say(`verdict ${verdict.verdict_id}: ${final_verdict}, score ${final_score}, confidence ${confidence}`);
  say(`${reasoning}`);
  return verdict;
}

function requireDecision({ outcome }: Play, { final_verdict }: Verdict): void {
  if (final_verdict !== ENDS[outcome].verdict) {
    throw new Error(`The panel decided ${final_verdict} where ${ENDS[outcome].verdict} was to be shown.`);
  }
}

/** Buys the second panel's decision, before the first one is signed, and waits for it. */
async function appeal({ up, say }: Play, { verdict_id }: Verdict): Promise<Verdict> {
  const open = await awaitVerdict(up, verdict_id, (verdict) => verdict.appeal?.status === "available");
  const { appeal_by, price_usd } = open.appeal ?? {};
  say(`it may be appealed until ${appeal_by}, for ${price_usd} USD`);
  await post(up, `/v1/verdicts/${verdict_id}/appeal?price_usd=${price_usd}`, {});
  const decided = await awaitVerdict(up, verdict_id, (verdict) => verdict.appeal?.status !== "open");
  say(`the second panel decided ${decided.final_verdict}: the first decision is ${decided.appeal?.status}`);
  return decided;
}

/** Waits until the service says that its verdict is carried out, then for the escrow itself to show it. */
async function watch(
  { up, dataDir, chain, generation, outcome, say }: Play,
  { job, verdict }: { readonly job: Job; readonly verdict: Verdict },
): Promise<Status> {
  const expected = ENDS[outcome];
  const { verdict_id, settlement } = await awaitVerdict(
    up,
    verdict.verdict_id,
    ({ settlement }) => settlement?.status === expected.settlement,
  );
  const readStatus = () => chain.statusOf(generation, job.escrow, job.jobId);
  const deadline = performance.now() + PATIENCE_MS;
  let status = await readStatus();
  while (status !== expected.status && performance.now() < deadline) {
    await sleep(POLL_MS);
    status = await readStatus();
  }
  say(`the job is ${status} (settlement ${settlement?.status}, transaction ${settlement?.tx_hash})`);
  if (outcome === "hold") {
    say(`it stays so until somebody decides, best by ${settlement?.review_by}, or the job expires:`);
    say(
      `npm run ahs -- review decide ${verdict_id} --decision ALLOW --reason 'Why.' --data-dir '${dataDir}'`,
    );
  } else say(`to compare: npx node examples/check-reason.ts ${verdict_id} --data-dir '${dataDir}'`);
  return status;
}

function usd(amount: bigint): string {
  return formatUnits(amount, 6);
}

/** Jobs are played at once: each line says whose it is. */
function sayOf(generation: Generation, outcome: Outcome): (line: string) => void {
  return (line) => process.stdout.write(`${generation} ${outcome}: ${line}\n`);
}
