import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { type Address, pad, toEventSelector } from "viem";
import { getAbiItem } from "viem/utils";
import { validationRegistryAbi } from "../chain/abi/validation-registry.ts";
import { decodeEvent } from "../chain/bounded-abi.ts";
import type { RawLog } from "../chain/node/rpc-answers.ts";
import { holdChain } from "../db/chain-fence.ts";
import { lowerCase } from "../db/columns.ts";
import { hasRoom, nextDay } from "../db/day-budget.ts";
import { metricsOf } from "../db/metrics.ts";
import { decodeDataUri } from "../net/decode-data-uri.ts";
import type { GuardedFetch } from "../net/guarded-fetch.ts";
import { stepAfter } from "../sender/orders/fate.ts";
import type { OrderKind } from "../sender/orders/order-kind.ts";
import { repeatOrders, runOrders, type Settled } from "../sender/orders/run-orders.ts";
import { enqueueTransaction } from "../sender/sender-transactions.ts";
import { readValidationBody, type VerdictName } from "./check-validation-request.ts";
import { readIndexedBlock } from "./publish-records.ts";
import { type RegistryLogSource, readRegistryLogs } from "./read-registry-logs.ts";
import { composeValidation, type DecidedVerdict, type ValidationAnswer } from "./validation-document.ts";
import {
  countAnsweredToday,
  type DueValidation,
  type NewValidation,
  patchValidation,
  readAnsweredParties,
  readDueValidations,
  readRoots,
  readSentValidations,
  storeValidations,
  VALIDATION_PURPOSE,
} from "./validation-rows.ts";

type ValidationDeps = RegistryLogSource & {
  /** Blocks behind the indexed one that cannot be reorged. */
  readonly finalityBlocks: number;
  readonly identityRegistry: Address;
  /** The key that requests name as their validator, and that answers. */
  readonly validator: Address;
  readonly origin: string;
  readonly fetch: GuardedFetch;
  /**
   * Finds the newest decision on an output of this provider (lower-case). unknown: no such verdict, or of another provider; undecided: a
   * run of the panel is due; failed: it has no decision and no run.
   */
  readonly readDecision: (
    asked: VerdictName & { readonly provider: Address },
  ) => Promise<{ readonly kind: "unknown" | "undecided" | "failed" } | DecidedVerdict>;
  /** Answers of a UTC day. */
  readonly perDay: number;
  /** Accounts that fund strangers, in lower case: they join no owners. */
  readonly publicFunders: readonly Address[];
  readonly now: () => Date;
};

/** Requests that one round answers; each may wait 10 s for its document. */
const BATCH = 4;
/** Requests that are compared by what their parties had today. */
const CANDIDATES = 64;
/** Answers of a day for all agents of one owner, and of one wallet. */
const MOST_PER_OWNER = 5;
const MOST_URI_CHARACTERS = 16_384;
/** Time that a request has from when it was read. */
const DEADLINE_MS = 7 * 86_400_000;

/** With the accounts for which its answer counts. */
type ChosenValidation = DueValidation & { readonly parties: readonly Address[] };

type Outcome = "answered" | "refused" | "postponed" | "sent";

/**
 * One round: read new requests from final blocks, settle answers that are final, and answer the requests that are due. One process
 * at a time may run it; a document, its answer and the transaction are one database transaction.
 */
export async function validationRound(deps: ValidationDeps): Promise<readonly Outcome[]> {
  const { db, chainId, perDay } = deps;
  const indexedBlock = await readIndexedBlock(db, chainId);
  if (indexedBlock === null) return [];
  await readRequests(deps, indexedBlock - deps.finalityBlocks);
  const outcomes: Outcome[] = await settleAnswers(deps);
  const now = deps.now();
  const had = await readAnsweredParties(db, deps, now);
  let used = await countAnsweredToday(db, deps, now);
  for (const { due, parties } of await chooseDue(deps, had, now)) {
    const wait = whyToWait(due, { parties, had, used, perDay });
    const outcome = await answerOrPostpone(deps, { ...due, parties }, wait);
    outcomes.push(outcome);
    if (outcome !== "sent") continue;
    used += 1;
    for (const party of parties) had.set(party, (had.get(party) ?? 0) + 1);
  }
  return outcomes;
}

/** The requests of this round: those tried least, then those whose owner, wallet and owner cluster had the fewest answers today. */
async function chooseDue(deps: ValidationDeps, had: ReadonlyMap<Address, number>, now: Date) {
  const { db, chainId, publicFunders } = deps;
  const candidates = await readDueValidations(db, deps, { now, limit: CANDIDATES });
  const wallets = [...new Set(candidates.flatMap(({ wallet }) => wallet ?? []))];
  const roots = await readRoots(db, { chainId, wallets, publicFunders });
  return candidates
    .map((due) => {
      const { owner, wallet } = due;
      const root = wallet === null ? null : (roots.get(wallet) ?? wallet);
      const parties = [...new Set([owner, wallet, root].filter((party) => party !== null))];
      return { due, parties, most: Math.max(0, ...parties.map((party) => had.get(party) ?? 0)) };
    })
    .toSorted((a, b) => a.due.attempts - b.due.attempts || a.most - b.most)
    .slice(0, BATCH);
}

/** Why a request waits for the next day; null if it is answered now. */
function whyToWait(
  { owner, wallet }: DueValidation,
  {
    parties,
    had,
    used,
    perDay,
  }: {
    readonly parties: readonly Address[];
    readonly had: ReadonlyMap<Address, number>;
    readonly used: number;
    readonly perDay: number;
  },
): string | null {
  const hadOf = (party: Address | null) => (party === null ? 0 : (had.get(party) ?? 0));
  if (used >= perDay) return "the day's answers are used up";
  if (Math.max(hadOf(owner), hadOf(wallet)) >= MOST_PER_OWNER)
    return `its owner, or its wallet, has had ${MOST_PER_OWNER} answers today`;
  const own = Math.max(...parties.map(hadOf), 0);
  return hasRoom({ ceiling: perDay, used, own })
    ? null
    : "accounts of its owner cluster have had as many answers today as are left for all others";
}

const REQUESTED = toEventSelector(getAbiItem({ abi: validationRegistryAbi, name: "ValidationRequest" }));

async function readRequests(deps: ValidationDeps, finalBlock: number): Promise<void> {
  const topics = [[REQUESTED], [pad(lowerCase(deps.validator))]];
  await readRegistryLogs(deps, { finalBlock, topics }, (tx, logs) =>
    storeValidations(tx, deps, { requests: logs.flatMap((log) => requestOf(log) ?? []), now: deps.now() }),
  );
}

function requestOf(log: RawLog): NewValidation | null {
  const event = decodeEvent(validationRegistryAbi, log);
  if (event?.eventName !== "ValidationRequest") return null;
  const { agentId, requestURI, requestHash } = event.args;
  const isStorable = requestURI.length <= MOST_URI_CHARACTERS && !requestURI.includes("\0");
  return {
    requestHash,
    agentId,
    block: log.blockNumber,
    requestUri: isStorable ? requestURI : "",
    state: isStorable ? "pending" : "refused",
    reason: isStorable
      ? null
      : `the requestURI has ${requestURI.length} characters, at most ${MOST_URI_CHARACTERS} are read`,
  };
}

type TriedValidation = Pick<DueValidation, "requestHash" | "attempts" | "createdAt">;

/** An answer counts once its block is final. */
const ANSWERS: Omit<OrderKind<TriedValidation>, "look"> = {
  done: "final block",
  isRepeatable: false,
  retryMs: { first: 60_000, longest: 6 * 3_600_000 },
  // The document of a request, its verdict, the node and the registry may all be late.
  deadlineOf: ({ createdAt }) => new Date(createdAt.getTime() + DEADLINE_MS),
};

async function settleAnswers(deps: ValidationDeps): Promise<Outcome[]> {
  const rows = await readSentValidations(deps.db, deps);
  const look = ({ transaction, attempts }: (typeof rows)[number]) => ({ transaction, failures: attempts });
  const outcomes: Outcome[] = [];
  await runOrders(
    { ...ANSWERS, look },
    {
      rows,
      now: deps.now(),
      settle: async ({ row, step }) => outcomes.push(await store(deps, { ...row, from: "sent" }, step)),
    },
  );
  return outcomes;
}

/** Stores what came of an attempt to answer. */
async function store(
  { db, chainId, registry }: ValidationDeps,
  { requestHash, attempts, from }: TriedValidation & { readonly from: "pending" | "sent" },
  step: Settled<TriedValidation>["step"],
): Promise<Outcome> {
  const key = { chainId, registry, requestHash, from };
  const reasonOf = (cause: string) => (from === "sent" ? `not answered: ${cause}` : cause);
  switch (step.kind) {
    case "reopen":
      throw new Error("a row that is settled was read again");
    case "done":
      await patchValidation(db, key, { state: "answered" });
      return "answered";
    case "end":
      await patchValidation(db, key, { state: "refused", reason: reasonOf(step.cause) });
      return "refused";
    case "again": {
      const reason = reasonOf(step.failure?.cause ?? "it has no transaction");
      await patchValidation(db, key, {
        state: "pending",
        reason,
        notBefore: step.at,
        attempts: attempts + 1,
      });
      return "postponed";
    }
  }
}

/** A request that fails in an unforeseen way is tried again later, and does not stop the others. */
async function answerOrPostpone(
  deps: ValidationDeps,
  due: ChosenValidation,
  wait: string | null,
): Promise<Outcome> {
  try {
    return await answer(deps, due, wait);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return tryLater(deps, due, `not answered: ${reason}`);
  }
}

/** Postpones a request, or refuses it after its deadline. */
function tryLater(deps: ValidationDeps, row: TriedValidation, cause: string): Promise<Outcome> {
  const failure = { kind: "unanswered", cause, revertData: null };
  const step = stepAfter(ANSWERS, { row, failures: row.attempts, failure }, deps.now());
  return store(deps, { ...row, from: "pending" }, step);
}

async function answer(deps: ValidationDeps, due: ChosenValidation, wait: string | null): Promise<Outcome> {
  const { chainId, registry, identityRegistry } = deps;
  const { requestHash, agentId } = due;
  const key = { chainId, registry, requestHash, from: "pending" } as const;
  if (wait !== null) {
    await patchValidation(deps.db, key, { reason: wait, notBefore: nextDay(deps.now()) });
    return "postponed";
  }
  const body = await loadBody(deps.fetch, due.requestUri);
  if (typeof body === "string") return tryLater(deps, due, body);
  const subject = readValidationBody(body, { requestHash, agentId, chainId, identityRegistry });
  const found =
    subject.kind === "verdict" ? await findVerdict(deps, due, subject.name) : answerOf(subject, due);
  if (found.kind === "undecided") return tryLater(deps, due, found.reason);
  if (found.kind === "refused") {
    await patchValidation(deps.db, key, { state: "refused", reason: found.reason });
    return "refused";
  }
  await send(deps, { due, answer: found });
  return "sent";
}

type Refused = { readonly kind: "refused"; readonly reason: string };

function answerOf(subject: { readonly kind: "score" } | Refused, { score, isScored }: DueValidation) {
  if (subject.kind === "refused") return subject;
  if (score !== null) return { kind: "score", score } as const;
  return isScored
    ? refusal("the agent's wallet has no score: it has too little history")
    : undecided("the agent's wallet is not known, or not scored yet");
}

/** Only verdicts on outputs of the agent's own wallet are answered. Of any other it is not even said whether it exists. */
async function findVerdict({ readDecision }: ValidationDeps, { wallet }: DueValidation, name: VerdictName) {
  if (wallet === null) return undecided("the agent's wallet is not known");
  const found = await readDecision({ ...name, provider: wallet });
  switch (found.kind) {
    case "decided":
      return { kind: "verdict", verdict: found } as const;
    case "undecided":
      return undecided("the verdict is not decided yet");
    case "unknown":
      return refusal("the agent's wallet has no such verdict as a provider");
    // Its submitter may retry it.
    case "failed":
      return undecided("the verdict failed without a decision");
  }
}

/** Tried again until the deadline. */
function undecided(reason: string) {
  return { kind: "undecided", reason } as const;
}

function refusal(reason: string): Refused {
  return { kind: "refused", reason };
}

/** The document of a request, or the reason for its absence. */
async function loadBody(fetch: GuardedFetch, uri: string): Promise<Uint8Array | string> {
  if (/^data:/i.test(uri)) {
    const decoded = decodeDataUri(uri);
    return decoded.kind === "decoded" ? decoded.body : `the data: URI is ${decoded.reason}`;
  }
  const fetched = await fetch({ url: uri });
  if (fetched.kind === "failed") return fetched.detail;
  return fetched.status === 200 ? fetched.body : `the document was answered with status ${fetched.status}`;
}

async function send(
  deps: ValidationDeps,
  { due, answer: given }: { due: ChosenValidation; answer: ValidationAnswer },
): Promise<void> {
  const { db, chainId, registry, validator } = deps;
  const { requestHash, agentId, attempts, parties } = due;
  const now = deps.now();
  const { response, document, documentHash, data } = composeValidation(
    { requestHash, agentId, answer: given, createdAt: now },
    deps,
  );
  await db.transaction(async (tx) => {
    await holdChain(tx, chainId);
    const senderTransactionId = await enqueueTransaction(tx, {
      chainId,
      sender: validator,
      reference: `${VALIDATION_PURPOSE}:${requestHash}:${attempts}`,
      purpose: VALIDATION_PURPOSE,
      to: registry,
      data,
      value: 0n,
    });
    const key = { chainId, registry, requestHash, from: "pending" } as const;
    const isMine = await patchValidation(tx, key, {
      state: "sent",
      reason: null,
      response,
      document,
      documentHash,
      senderTransactionId,
      sentAt: now,
      parties: [...parties],
    });
    if (!isMine) throw new Error(`the validation request ${requestHash} is no longer pending`);
  });
}

export function createValidationMetrics(registry: Registry) {
  return {
    requests: metricsOf(registry).counter(
      "ahs_validation_requests_total",
      "Validation requests by what came of them: sent, answered (in a final block), refused or postponed",
      "outcome",
    ),
  };
}

/** Answers validation requests until the signal fires. */
export async function runValidations(
  deps: ValidationDeps & {
    readonly metrics: ReturnType<typeof createValidationMetrics>;
    readonly logger: Logger;
    readonly pollMs: number;
  },
  signal: AbortSignal,
): Promise<void> {
  const pass = async () => {
    for (const outcome of await validationRound(deps)) deps.metrics.requests.inc({ outcome });
  };
  await repeatOrders({ what: "validation round", pass }, deps, signal);
}
