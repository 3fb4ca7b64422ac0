import { randomBytes, randomUUID } from "node:crypto";
import type { Logger } from "pino";
import { Problem, unavailable } from "../access/problems.ts";
import type { Deployment } from "../chain/deployments.ts";
import { cached } from "../db/cached.ts";
import type { Database } from "../db/database.ts";
import { underDeadline } from "../db/database.ts";
import { startOfDay } from "../db/day-budget.ts";
import { bindSpec } from "./escrow/bind-spec.ts";
import { refuseSignature } from "./escrow/client-signature.ts";
import { readSubmission } from "./escrow/escrow-jobs.ts";
import { type EscrowClient, EscrowFailure, readNewestBlock } from "./escrow/escrow-node.ts";
import { readReleasedMoney } from "./escrow/released-money.ts";
import type { JobName } from "./escrow/types.ts";
import type { PanelRunSettings } from "./panel/ask-role.ts";
import {
  describeEvidenceOverflow,
  describeSpecOverflow,
  largestRun,
  measureOutput,
} from "./panel/check-context.ts";
import {
  acceptOutput,
  activateOutput,
  awaitAccepted,
  findAccepted,
  type OutputDraft,
  type Purchaser,
  withdrawOutput,
} from "./verdicts/accept-output.ts";
import { type Bind, bindableOf } from "./verdicts/place-output.ts";
import { retryVerdict } from "./verdicts/rerun-verdict.ts";
import {
  hasSpec,
  insertSpec,
  type RegisterDeps,
  readSpec,
  registerSpec,
  type SpecDraft,
  type StoredSpec,
} from "./verdicts/specs.ts";
import { readDayTokens, readOwnerTokens } from "./verdicts/token-budget.sql.ts";
import type { PanelBudget } from "./verdicts/token-budget.ts";
import { isVerdictOfJob } from "./verdicts/verdict-cases.ts";

type IntakeParts = {
  db: Database;
  deployment: Deployment;
  /** Null without a node: requests that need one then get a 503. */
  client: EscrowClient | null;
  /** Null without a model: then no output is accepted, and no text is too long. */
  panel:
    | (Pick<PanelRunSettings, "contextTokens" | "answerTokens" | "prices" | "prompts"> & {
        tokensPerDay: number;
      })
    | null;
  logger: Logger;
  clock: { now(): Date; monotonicMs(): number };
};

const RETRY_AFTER_SECONDS = 5;
/** The sum reads all calls of a day, so its result is cached for this long. */
const USED_FOR_MS = 1_000;

/** Registers specifications, accepts outputs and retries failed verdicts. */
export function createIntake({ db, deployment, client, panel, logger, clock }: IntakeParts) {
  const { now, monotonicMs } = clock;
  const node = nodeOf(client, { db, deployment, now });
  const budget = panel === null ? null : budgetOf(panel, { db, monotonicMs });
  const intake = { db, logger, now, randomBytes, randomUuid: randomUUID };
  const registering: RegisterDeps = {
    insert: (spec) => insertSpec(db, spec),
    newestBlock: node.newestBlock,
    refuseSignature: node.refuseSignature,
    describeOverflow: (draft) => (panel === null ? null : describeSpecOverflow(draft, panel)),
    randomUuid: randomUUID,
  };
  return {
    specs: {
      scope: { chainId: deployment.chainId, escrows: deployment.escrows.map(({ address }) => address) },
      register: (draft: SpecDraft, at: Date) => registerSpec(registering, draft, at),
      binding: (specId: string) => readBinding(specId, { db, bind: node.bind }),
    },
    outputs: {
      hasSpec: (id: string) => hasSpec(db, id),
      spec: (id: string) => readSpec(db, id),
      /** Tokens of a run by the specification, and why it cannot be sold; null if no panel is configured. */
      measure: (spec: StoredSpec & { readonly specText: string }, outputText: string) =>
        panel === null ? null : measureOutput({ ...spec, outputText }, panel),
      readStake: node.readStake,
      bind: node.bind,
      readDeliverable: async (job: Parameters<typeof readSubmission>[1]) =>
        (await readSubmission(underDeadline(db), job))?.deliverable ?? null,
      find: (place: { slot: string; owner: string }) => findAccepted(db, place),
      awaitAccepted: (place: { slot: string; keyId: string }, stopped: AbortSignal) =>
        awaitAccepted(intake, place, stopped),
      accept: (draft: OutputDraft, purchaser: Purchaser & { signal: AbortSignal }) =>
        acceptOutput(intake, draft, purchaser),
      activate: (verdictId: string) => activateOutput(intake, verdictId),
      withdraw: (verdictId: string) => withdrawOutput(intake, verdictId),
      budget,
    },
    describeEvidenceOverflow: (text: string) =>
      panel === null ? null : describeEvidenceOverflow(text, panel),
    retryVerdict: (request: Parameters<typeof retryVerdict>[1]) => retryVerdict(db, request),
    isOfJob: (verdictId: string) => isVerdictOfJob(db, verdictId),
    panelBudget: budget,
  };
}

export type Intake = ReturnType<typeof createIntake>;

function budgetOf(
  panel: NonNullable<IntakeParts["panel"]>,
  { db, monotonicMs }: { db: Database; monotonicMs: () => number },
): PanelBudget {
  const largest = largestRun(panel);
  return {
    tokensPerDay: panel.tokensPerDay,
    largestRun: largest,
    readDay: cached((now: Date) => readDayTokens(db, { now, largestRun: largest }), {
      keyOf: (now) => startOfDay(now).toISOString(),
      milliseconds: USED_FOR_MS,
      entries: 2,
      monotonicMs,
    }),
    readOwner: (owner, now) => readOwnerTokens(db, { owner, now, largestRun: largest }),
  };
}

/** unknown: node or index cannot say it now; the next output of the specification asks again. */
export type SpecBinding = {
  readonly status: "bound" | "unbound" | "unknown";
  /** Null if it is bound. */
  readonly reason: string | null;
};

/** Says whether a specification is its job's now; null if it names no job of an escrow. */
async function readBinding(
  specId: string,
  { db, bind }: { db: Database; bind: Bind },
): Promise<SpecBinding | null> {
  const spec = await readSpec(db, specId);
  const bindable = spec === null ? null : bindableOf(spec);
  if (bindable === null) return null;
  try {
    const binding = await bind(bindable);
    if (binding.kind === "bound") return { status: "bound", reason: null };
    return { status: binding.kind === "unbound" ? "unbound" : "unknown", reason: binding.reason };
  } catch (error) {
    // The specification is registered either way.
    if (error instanceof Problem) return { status: "unknown", reason: error.detail };
    throw error;
  }
}

/** The questions to a node. Each throws a 503 if the node does not answer. */
function nodeOf(
  client: EscrowClient | null,
  { db, deployment, now }: Pick<IntakeParts, "db" | "deployment"> & { now: () => Date },
): Pick<RegisterDeps, "newestBlock" | "refuseSignature"> & {
  bind: Bind;
  /** Reads the money that an ALLOW pays, in millionths of a US dollar; null without a job, and if it is not known. */
  readStake: (job: JobName | null) => Promise<bigint | null>;
} {
  if (client === null) {
    const refuse = () => Promise.reject(nodeUnavailable(new Error("no node is configured")));
    return { newestBlock: refuse, refuseSignature: refuse, bind: refuse, readStake: async () => null };
  }
  return {
    newestBlock: () =>
      readNewestBlock({ db: underDeadline(db), client }, deployment.chainId).catch(throwProblem),
    refuseSignature: (signed) => refuseSignature({ client, deployment }, signed).catch(throwProblem),
    bind: (spec) => bindSpec({ db, client, deployment }, spec).catch(throwProblem),
    readStake: async (job) => {
      const released = await readReleasedMoney({ db, client, deployment, now }, job).catch(throwProblem);
      return released === "unknown" ? null : released;
    },
  };
}

function throwProblem(error: unknown): never {
  if (!(error instanceof EscrowFailure)) throw error;
  if (error.reason !== "index") throw nodeUnavailable(error);
  const detail = "The index has not reached the block that shows the parties of the job.";
  throw unavailable("index-behind", detail, { retryAfterSeconds: RETRY_AFTER_SECONDS, cause: error });
}

function nodeUnavailable(cause: unknown): Error {
  const detail = "The node that is asked about jobs does not answer.";
  return unavailable("node-unavailable", detail, { retryAfterSeconds: RETRY_AFTER_SECONDS, cause });
}
