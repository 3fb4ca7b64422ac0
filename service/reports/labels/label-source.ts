import { BrokenCircuitError, ConsecutiveBreaker, circuitBreaker, handleWhenResult } from "cockatiel";
import type { Address } from "viem";
import { z } from "zod";
import type { ProvidedLabel } from "../../db/tables/wallet-label.ts";
import { readText } from "../../net/read-text.ts";
import { printableName } from "./chain-labels.ts";

export type LabelFailure = {
  readonly kind: "failed";
  /**
   * unconnected: not reachable, or the connection broke. unavailable: temporarily out of service. refused: rejected, for
   * the key or another reason. broken: not asked after several failures in a row.
   */
  readonly reason:
    | "timeout"
    | "unconnected"
    | "unavailable"
    | "rate_limited"
    | "refused"
    | "malformed"
    | "broken";
  /** For the operator; it holds neither key nor URL. */
  readonly detail: string;
};

export type FoundLabels = { readonly kind: "labels"; readonly labels: readonly ProvidedLabel[] };

/** A third party with names of accounts. It reports failures as values. */
export type LabelSource = {
  readonly provider: string;
  read(address: Address): Promise<FoundLabels | LabelFailure>;
};

export function labelFailure(reason: LabelFailure["reason"], detail: string): LabelFailure {
  return { kind: "failed", reason, detail };
}

/** Labels asked for, and shown: a busy account has some dozens. */
const MAX_LABELS = 100;
/** A label with its definition takes some hundred bytes. */
const MAX_BYTES = 262_144;

const entrySchema = z.object({ label: z.string(), category: z.string().nullish() });
/** A list around which newer versions put an object. */
const answerSchema = z.union([
  z.array(entrySchema),
  z.object({ data: z.array(entrySchema) }).transform(({ data }) => data),
]);

/** Labels of the Nansen profiler, of all its chains, or of a provider that speaks like it. */
export function createNansenSource({
  url,
  apiKey,
  provider,
  deadlineMs,
}: {
  /** Of the operator's configuration, so it is not guarded: https://api.nansen.ai/api/v1/profiler/address/labels. */
  readonly url: string;
  /** Null if the endpoint needs none. */
  readonly apiKey: string | null;
  /** Its name in answers. */
  readonly provider: string;
  /** From the request to the last byte of the answer. */
  readonly deadlineMs: number;
}): LabelSource {
  return {
    provider,
    async read(address) {
      const signal = AbortSignal.timeout(deadlineMs);
      try {
        const response = await fetch(url, {
          method: "POST",
          signal,
          // A key in the headers must not travel on.
          redirect: "error",
          headers: {
            accept: "application/json",
            "content-type": "application/json",
            ...(apiKey === null ? {} : { apikey: apiKey }),
          },
          body: JSON.stringify({ address, chain: "all", pagination: { page: 1, per_page: MAX_LABELS } }),
        });
        if (response.ok) return readAnswer(await readText(response, MAX_BYTES));
        await response.body?.cancel();
        return refusalOf(response.status);
      } catch (error) {
        if (signal.aborted) return labelFailure("timeout", `no whole answer within ${deadlineMs} ms`);
        return labelFailure("unconnected", `the connection failed: ${causeOf(error)}`);
      }
    },
  };
}

function refusalOf(status: number): LabelFailure {
  const detail = `HTTP status ${status}`;
  if (status === 429) return labelFailure("rate_limited", detail);
  return labelFailure(status === 408 || status >= 500 ? "unavailable" : "refused", detail);
}

function readAnswer(text: string | null): FoundLabels | LabelFailure {
  if (text === null) return labelFailure("malformed", `the answer is larger than ${MAX_BYTES} bytes`);
  const json = parse(text);
  const answer = answerSchema.safeParse(json);
  if (!answer.success) return labelFailure("malformed", "the answer is no list of labels");
  return { kind: "labels", labels: answer.data.slice(0, MAX_LABELS).flatMap(readEntry) };
}

/** Cleans an entry; returns nothing if its label is empty. */
function readEntry({ label, category }: z.infer<typeof entrySchema>): readonly ProvidedLabel[] {
  const shown = printableName(label);
  const kind = category === null || category === undefined ? "" : printableName(category);
  return shown === "" ? [] : [{ label: shown, category: kind === "" ? null : kind }];
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Undefined is no JSON value.
    return undefined;
  }
}

/** The code of the system's error alone: messages may hold the URL. */
function causeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && "code" in cause ? String(cause.code) : "no code given";
}

/** Stops asking a source for a while after repeated failures, so that callers do not wait for it. */
export function createBreakingSource(
  source: LabelSource,
  {
    failures,
    pauseMs,
  }: {
    /** Failures in a row after which the source is left alone. */
    readonly failures: number;
    /** After the pause, one request tries it again. */
    readonly pauseMs: number;
  },
): LabelSource {
  const breaker = circuitBreaker(handleWhenResult(isFailure), {
    halfOpenAfter: pauseMs,
    breaker: new ConsecutiveBreaker(failures),
  });
  return {
    provider: source.provider,
    async read(address) {
      try {
        return await breaker.execute(() => source.read(address));
      } catch (error) {
        if (!(error instanceof BrokenCircuitError)) throw error;
        return labelFailure("broken", `not asked after ${failures} failures in a row`);
      }
    },
  };
}

function isFailure(result: unknown): result is LabelFailure {
  return typeof result === "object" && result !== null && "kind" in result && result.kind === "failed";
}
