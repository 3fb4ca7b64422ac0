import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { databaseFailure } from "../../db/database-failure.ts";
import { freshnessOf, type IndexHead } from "../../db/index-head.ts";
import type { ModelReachability } from "../../verification/panel/openai-client.ts";
import type { readVerdictQueue } from "../../verification/verdicts/verdict-queue.sql.ts";

/** not_configured: the operator left it out; this is not a failure. */
type CheckStatus = "ok" | "failing" | "not_configured";

/** One dependency of verification; the detail names no address and no secret. */
type Check = { readonly status: CheckStatus; readonly detail: string };

export const CHECK_NAMES = ["database", "queue", "model", "chain"] as const;

export type HealthReport = Readonly<Record<(typeof CHECK_NAMES)[number], Check>>;

export type HealthSources = {
  queue(): ReturnType<typeof readVerdictQueue>;
  /** Newest block of the index; null without one. */
  head(): Promise<IndexHead | null>;
  /** Newest block of the node; null if none is configured. */
  readonly node: (() => Promise<bigint>) | null;
  /** Null if no model is configured. */
  readonly model: (() => Promise<ModelReachability>) | null;
};

type HealthDeps = {
  readonly sources: HealthSources;
  readonly maxIndexAgeSeconds: number;
  readonly clock: { now(): Date; monotonicMs(): number };
  readonly logger: Logger;
  /** Milliseconds per check; 2,000 by default. */
  readonly timeoutMs?: number;
};

const TIMEOUT_MS = 2_000;
/** Cache time of a check in milliseconds. */
const CACHE_MS = { own: 2_000, others: 5_000 } as const;
/** Workers start a run within a second. A longer wait means too few workers. */
const MAX_QUEUE_AGE_SECONDS = 300;

/**
 * Creates the check of all dependencies. Each check takes at most two seconds and is cached for some seconds, for any number of callers.
 */
export function createHealthCheck(deps: HealthDeps): () => Promise<HealthReport> {
  const store = cached(() => checkDatabase(deps), CACHE_MS.own, deps);
  const chain = cached(() => checkChain(deps), CACHE_MS.others, deps);
  const model = cached(() => checkModel(deps), CACHE_MS.others, deps);
  return async () => {
    const [{ database, queue }, modelCheck, chainCheck] = await Promise.all([store(), model(), chain()]);
    return { database, queue, model: modelCheck, chain: chainCheck };
  };
}

async function checkDatabase(deps: HealthDeps): Promise<Pick<HealthReport, "database" | "queue">> {
  const found = await bounded(deps, "database", () => deps.sources.queue());
  if (found.kind === "answer")
    return { database: { status: "ok", detail: "answers" }, queue: queueCheck(found.answer) };
  const unknown = { status: "failing", detail: "unknown while the database is silent" } as const;
  return { database: found.check, queue: unknown };
}

function queueCheck({ depth, ageSeconds, processing }: Awaited<ReturnType<typeof readVerdictQueue>>): Check {
  const age = Math.floor(ageSeconds);
  const detail = `${depth} waiting, ${processing} under way, the most overdue for ${age} s, at most ${MAX_QUEUE_AGE_SECONDS} s allowed`;
  return { status: age > MAX_QUEUE_AGE_SECONDS ? "failing" : "ok", detail };
}

async function checkModel(deps: HealthDeps): Promise<Check> {
  const { model } = deps.sources;
  if (model === null)
    return { status: "not_configured", detail: "no model is configured, so outputs are not taken" };
  const found = await bounded(deps, "model", model);
  if (found.kind === "failed") return found.check;
  const { isReachable, detail } = found.answer;
  return { status: isReachable ? "ok" : "failing", detail: detail ?? (isReachable ? "answers" : SILENT) };
}

/** The index reports its progress. Binding and relaying need the node itself, which may fail long before the index shows it. */
async function checkChain(deps: HealthDeps): Promise<Check> {
  const { head, node } = deps.sources;
  const [index, asked] = await Promise.all([
    bounded(deps, "chain", () => head()),
    node === null ? null : answersAt(deps, node),
  ]);
  const check = indexCheck(deps, index);
  if (asked === null || asked) return check;
  return { status: "failing", detail: `the node ${SILENT}; ${check.detail}` };
}

/** True if the node answers in time; its refusal is not logged. */
async function answersAt(deps: HealthDeps, node: () => Promise<bigint>): Promise<boolean> {
  const found = await bounded(deps, "node", () =>
    node().then(
      () => true,
      () => false,
    ),
  );
  return found.kind === "answer" && found.answer;
}

function indexCheck({ clock, maxIndexAgeSeconds }: HealthDeps, found: Found<IndexHead | null>): Check {
  if (found.kind === "failed") return found.check;
  const head = found.answer;
  if (head === null) return { status: "failing", detail: "the index holds no block" };
  const { ok, detail } = freshnessOf(head, { now: clock.now(), maxAgeSeconds: maxIndexAgeSeconds });
  return { status: ok ? "ok" : "failing", detail };
}

const SILENT = "does not answer";

type Found<Answer> =
  | { readonly kind: "answer"; readonly answer: Answer }
  | { readonly kind: "failed"; readonly check: Check };

/** A check that throws or takes too long fails; unexpected errors are logged. */
async function bounded<Answer>(
  { timeoutMs = TIMEOUT_MS, logger }: HealthDeps,
  name: string,
  look: () => Promise<Answer>,
): Promise<Found<Answer>> {
  const silent = { kind: "failed", check: { status: "failing", detail: SILENT } } as const;
  const over = new AbortController();
  const late = sleep(timeoutMs, silent, { signal: over.signal });
  // Aborted below if the check was faster.
  late.catch(() => undefined);
  try {
    return await Promise.race([look().then((answer) => ({ kind: "answer", answer }) as const), late]);
  } catch (error) {
    const failure = databaseFailure(error);
    if (failure === "index")
      return {
        kind: "failed",
        check: { status: "failing", detail: "the index has not finished its first pass" },
      };
    if (failure === null) logger.error({ err: error, check: name }, "a health check failed unexpectedly");
    return silent;
  } finally {
    over.abort();
  }
}

/** Caches a check for some time; one runs at a time. */
function cached<Answer>(
  look: () => Promise<Answer>,
  forMs: number,
  { clock }: Pick<HealthDeps, "clock">,
): () => Promise<Answer> {
  let known: { readonly answer: Promise<Answer>; readonly until: number } | null = null;
  return () => {
    const now = clock.monotonicMs();
    if (known === null || known.until <= now) known = { answer: look(), until: now + forMs };
    return known.answer;
  };
}
