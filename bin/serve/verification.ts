import { randomBytes, randomUUID } from "node:crypto";
import { readApiKey } from "../../service/access/api-keys.ts";
import { clientAddress, type TrustedProxies } from "../../service/access/client-address.ts";
import type { AccessParts } from "../../service/access/create-access.ts";
import { Problem, unavailable } from "../../service/access/problems.ts";
import {
  countedKeys,
  createByteBudgets,
  createIpLimit,
  type IpLimit,
} from "../../service/access/rate-limits.ts";
import { readVerdictDeliveries } from "../../service/alerts/webhook-log.ts";
import type { VerificationPorts } from "../../service/api/create-verification-app.ts";
import { createHealthCheck } from "../../service/api/verification/health-check.ts";
import { type Bind, claimOf } from "../../service/api/verification/place-output.ts";
import type { OutputPorts } from "../../service/api/verification/post-outputs.ts";
import type { RetryPorts } from "../../service/api/verification/post-retry.ts";
import {
  SPECS_PER_MINUTE,
  type SpecBindingView,
  type SpecPorts,
} from "../../service/api/verification/post-specs.ts";
import { cached } from "../../service/db/cached.ts";
import { type Database, underDeadline } from "../../service/db/database.ts";
import type { IndexHead } from "../../service/scores/scores.ts";
import { createSpecBinder } from "../../service/verification/escrow/bind-spec.ts";
import { refuseSignature } from "../../service/verification/escrow/check-client-signature.ts";
import { EscrowFailure } from "../../service/verification/escrow/failure.ts";
import { readNewestBlock } from "../../service/verification/escrow/read-newest-block.ts";
import { readSubmission } from "../../service/verification/escrow/read-submission.ts";
import {
  describeOutputOverflow,
  describeSpecOverflow,
} from "../../service/verification/panel/check-spec-room.ts";
import { loadPrompts } from "../../service/verification/panel/load-prompts.ts";
import { acceptEvidence } from "../../service/verification/verdicts/accept-evidence.ts";
import {
  acceptOutput,
  activateOutput,
  awaitAccepted,
  findAccepted,
  withdrawOutput,
} from "../../service/verification/verdicts/accept-output.ts";
import { hasSpec, insertSpec, readSpec } from "../../service/verification/verdicts/job-specs.ts";
import { openReceiptKeys, publishedKeys } from "../../service/verification/verdicts/receipt-keys.ts";
import { recordReview } from "../../service/verification/verdicts/record-review.ts";
import { type RegisterDeps, registerSpec } from "../../service/verification/verdicts/register-spec.ts";
import { retryVerdict } from "../../service/verification/verdicts/retry-verdict.ts";
import { readTokensSince } from "../../service/verification/verdicts/role-calls.ts";
import { isVerdictOfJob } from "../../service/verification/verdicts/verdict-cases.ts";
import { readVerdictQueue } from "../../service/verification/verdicts/verdict-queue.ts";
import { readVerdict } from "../../service/verification/verdicts/verdict-view.ts";
import { readStoredEvidence, readStoredTexts } from "../../service/verification/verdicts/verdict-views.ts";
import type { Config } from "../config.ts";
import { modelProbeFromConfig } from "../panel-from-config.ts";
import { openChainClient } from "../process.ts";
import { type ServerParts, trustedProxiesOf } from "./access.ts";

/** The check itself gives up after two seconds. */
const HEALTH_RPC = { timeoutMs: 2_000, retries: 0 } as const;

type Parts = Pick<ServerParts, "db" | "logger" | "clock"> & {
  readonly chainId: number;
  /** The newest block of the index. */
  readonly head: () => Promise<IndexHead | null>;
  readonly keys: AccessParts["keys"];
  readonly gate: Pick<AccessParts, "limiter">;
};

/** Reads verdicts, takes evidence and reviews, and reports the health of verification. */
export function verdictPorts(
  config: Pick<Config, "maxIndexAgeSeconds" | "panel" | "rpcUrl">,
  { db, chainId, logger, clock, head, keys, gate }: Parts,
): Pick<
  VerificationPorts,
  "verdicts" | "verdictDeliveries" | "acceptEvidence" | "reviewers" | "recordReview" | "verificationHealth"
> {
  const { now } = clock;
  return {
    verdicts: {
      find: (id) => readVerdict(db, id),
      evidence: (id, run) => readStoredEvidence(db, id, run),
      texts: (id) => readStoredTexts(db, id),
    },
    verdictDeliveries: (id, page) => readVerdictDeliveries(db, id, page),
    acceptEvidence: (offer) => acceptEvidence({ db, now, randomUuid: randomUUID }, offer),
    reviewers: {
      enter: countedKeys(keys, gate.limiter).identify,
      find: (keyId) => readApiKey(db, keyId),
    },
    recordReview: (review) => recordReview({ db, chainId, now }, review),
    verificationHealth: createHealthCheck({
      sources: {
        queue: () => readVerdictQueue(db, now()),
        head,
        node: config.rpcUrl === null ? null : newestBlockAt(config.rpcUrl),
        model: config.panel === null ? null : modelProbeFromConfig(config.panel),
      },
      maxIndexAgeSeconds: config.maxIndexAgeSeconds,
      clock,
      logger,
    }),
  };
}

function newestBlockAt(rpcUrl: string): () => Promise<bigint> {
  const client = openChainClient(rpcUrl, HEALTH_RPC);
  return () => client.getBlockNumber({ cacheTime: 0 });
}

/** The keys that sign receipts, and the public ones of all that are configured. */
export async function receiptPorts({
  receiptKeys: { current, previous },
}: Pick<Config, "receiptKeys">): Promise<Pick<VerificationPorts, "receiptKeys" | "publicKeys">> {
  if (current === null) return { receiptKeys: null, publicKeys: { keys: await publishedKeys(previous) } };
  const keys = await openReceiptKeys(current, previous);
  return { receiptKeys: keys, publicKeys: { keys: keys.published } };
}

/** A caller is waiting. */
const CALLER_RPC = { timeoutMs: 3_000, retries: 1 } as const;
const RETRY_AFTER_SECONDS = 5;
/** The sum of the day's tokens is cached for this time, since it reads all calls. */
const USED_FOR_MS = 1_000;
/** At about 100 bytes each. */
const MAX_ADDRESSES = 100_000;

/** Registers specifications, accepts outputs and retries verdicts. Without a node, requests that name an escrow are refused. */
export function intakePorts(
  config: Config,
  { db, deployment, logger, clock }: ServerParts,
): Pick<SpecPorts, "specs"> &
  Pick<OutputPorts, "outputs"> &
  Pick<RetryPorts, "retryVerdict" | "isOfJob" | "panelBudget"> {
  const { now, monotonicMs } = clock;
  const node = nodeOf(config, { db, deployment });
  const intake = { db, logger, now, randomBytes, randomUuid: randomUUID };
  const registering = {
    insert: (spec: Parameters<typeof insertSpec>[1]) => insertSpec(db, spec),
    newestBlock: node.newestBlock,
    refuseSignature: node.refuseSignature,
    describeOverflow: overflowOf(config),
    randomUuid: randomUUID,
  };
  const budget = budgetOf(config, { db, monotonicMs });
  const trustedProxies = trustedProxiesOf(config);
  return {
    specs: {
      scope: { chainId: deployment.chainId, escrows: deployment.escrows.map(({ address }) => address) },
      register: (draft, at) => registerSpec(registering, draft, at),
      binding: (specId) => bindingOf(specId, { db, bind: node.bind }),
      limit: specLimit(trustedProxies, monotonicMs),
      addressOf: (source) => clientAddress(source, trustedProxies),
      budgets: createByteBudgets({ db, now }),
    },
    outputs: {
      hasSpec: (id) => hasSpec(db, id),
      spec: (id) => readSpec(db, id),
      describeOverflow: outputOverflowOf(config),
      bind: node.bind,
      readDeliverable: async (job) => (await readSubmission(underDeadline(db), job))?.deliverable ?? null,
      find: (place) => findAccepted(db, place),
      awaitAccepted: (place, stopped) => awaitAccepted(intake, place, stopped),
      accept: (draft, purchaser) => acceptOutput(intake, draft, purchaser),
      activate: (verdictId) => activateOutput(intake, verdictId),
      withdraw: (verdictId) => withdrawOutput(intake, verdictId),
      budget,
    },
    retryVerdict: (request) => retryVerdict(db, request),
    isOfJob: (verdictId) => isVerdictOfJob(db, verdictId),
    panelBudget: budget,
  };
}

/** Token budget of the day and its use; null without a panel. */
function budgetOf(
  { panel }: Pick<Config, "panel">,
  { db, monotonicMs }: { readonly db: Database; readonly monotonicMs: () => number },
) {
  if (panel === null) return null;
  return {
    tokensPerDay: panel.tokensPerDay,
    usedSince: cached((moment: Date) => readTokensSince(db, moment), {
      keyOf: (moment) => moment.toISOString(),
      milliseconds: USED_FOR_MS,
      entries: 2,
      monotonicMs,
    }),
  };
}

/** An unknown binding is reported as such: the specification is registered either way. */
async function bindingOf(
  specId: string,
  { db, bind }: { readonly db: Database; readonly bind: Bind },
): Promise<SpecBindingView | null> {
  const spec = await readSpec(db, specId);
  const claim = spec === null ? null : claimOf(spec);
  if (claim === null) return null;
  try {
    const binding = await bind(claim);
    switch (binding.kind) {
      case "bound":
        return { status: "bound", reason: null };
      case "unbound":
        return { status: "unbound", reason: binding.reason };
      case "suspended":
        return { status: "unknown", reason: binding.reason };
    }
  } catch (error) {
    if (error instanceof Problem) return { status: "unknown", reason: error.detail };
    throw error;
  }
}

function specLimit(trustedProxies: TrustedProxies, monotonicMs: () => number): IpLimit {
  return createIpLimit({
    perMinute: SPECS_PER_MINUTE,
    trustedProxies,
    monotonicMs,
    maxAddresses: MAX_ADDRESSES,
  });
}

/** Without a panel there are no models whose context could be too small. */
function overflowOf({ panel }: Config): RegisterDeps["describeOverflow"] {
  if (panel === null) return () => null;
  const settings = { ...panel, prompts: loadPrompts() };
  return (draft) => describeSpecOverflow(draft, settings);
}

function outputOverflowOf({ panel }: Config): OutputPorts["outputs"]["describeOverflow"] {
  if (panel === null) return () => null;
  const settings = { ...panel, prompts: loadPrompts() };
  return (spec, outputText) => describeOutputOverflow({ ...spec, outputText }, settings);
}

type Node = Pick<RegisterDeps, "newestBlock" | "refuseSignature"> & { readonly bind: Bind };

/** Questions to the node; each throws a 503 if it does not answer. */
function nodeOf({ rpcUrl }: Config, { db, deployment }: Pick<ServerParts, "db" | "deployment">): Node {
  if (rpcUrl === null) {
    const refuse = () => Promise.reject(nodeUnavailable(new Error("no node is configured")));
    return { newestBlock: refuse, refuseSignature: refuse, bind: refuse };
  }
  const client = openChainClient(rpcUrl, CALLER_RPC);
  const bind = createSpecBinder({ db, client, deployment });
  return {
    newestBlock: () =>
      readNewestBlock({ db: underDeadline(db), client }, deployment.chainId).catch(tellFailure),
    refuseSignature: (signed) => refuseSignature({ client, deployment }, signed).catch(tellFailure),
    bind: (claim) => bind(claim).catch(tellFailure),
  };
}

function tellFailure(error: unknown): never {
  throw error instanceof EscrowFailure ? bindingFailed(error) : error;
}

function bindingFailed(failure: EscrowFailure): Error {
  if (failure.reason !== "index") return nodeUnavailable(failure);
  const detail = "The index has not followed the job yet to where it can be told whose it is.";
  return unavailable("index-behind", detail, { retryAfterSeconds: RETRY_AFTER_SECONDS, cause: failure });
}

function nodeUnavailable(cause: unknown): Error {
  const detail = "The node that is asked about jobs does not answer.";
  return unavailable("node-unavailable", detail, { retryAfterSeconds: RETRY_AFTER_SECONDS, cause });
}
