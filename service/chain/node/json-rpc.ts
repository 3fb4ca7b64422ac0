import { setTimeout as sleep } from "node:timers/promises";
import { BaseError, custom, HttpRequestError, RpcRequestError, TimeoutError, type Transport } from "viem";
import { getHttpRpcClient } from "viem/utils";
import { z } from "zod";
import { failureOfHttpError, failureOfRpcError, NodeFailure } from "./failure.ts";

export type NodeOptions = {
  readonly url: string;
  /** Deadline of one request, its body included. */
  readonly timeoutMs: number;
  /** Retries of a failure that may pass. */
  readonly retries: number;
  /** Pause before the first retry, 150 ms by default; it doubles. */
  readonly retryMs?: number;
  /** Longest pause at the node's wish, 10 s by default. A node that wishes a longer one is not retried. */
  readonly longestPauseMs?: number;
  /** Which failures that may pass are retried: all by default. */
  readonly retriesOn?: (failure: NodeFailure) => boolean;
  /** Bound of one answer, 10 MiB by default. */
  readonly maxBytes?: number;
  readonly signal?: AbortSignal;
  /** Called before every request, retries included. */
  readonly onRequest?: (method: string) => void;
};

export type NodeClient = {
  /** Returns the result of a request. Throws a NodeFailure, or the signal's reason once it fires. */
  request(method: string, params: unknown): Promise<unknown>;
  /** The same, checked by a schema: a result of another form is the failure "garbage". */
  ask<Answer>(schema: z.ZodType<Answer>, method: string, params: readonly unknown[]): Promise<Answer>;
};

const RETRY_MS = 150;
const LONGEST_PAUSE_MS = 10_000;
const MAX_BYTES = 10 * 1024 * 1024;

/** The client of one JSON-RPC endpoint over HTTP. Everything that asks a node uses it, viem through nodeTransport. */
export function createNodeClient(options: NodeOptions): NodeClient {
  const { url, retries, retryMs = RETRY_MS, retriesOn = () => true, signal } = options;
  const { maxBytes = MAX_BYTES, longestPauseMs = LONGEST_PAUSE_MS } = options;
  const http = getHttpRpcClient(url, { timeout: 0, maxResponseBodySize: maxBytes });
  const request = async (method: string, params: unknown): Promise<unknown> => {
    for (let tried = 0; ; tried += 1) {
      try {
        return await askOnce(http, options, { method, params });
      } catch (error) {
        if (!(error instanceof NodeFailure) || tried >= retries) throw error;
        if (!error.mayPass || !retriesOn(error)) throw error;
        const pauseMs = error.retryAfterMs ?? retryMs * 2 ** tried;
        if (pauseMs > longestPauseMs) throw error;
        await sleep(pauseMs, undefined, { signal });
      }
    }
  };
  return {
    request,
    async ask(schema, method, params) {
      const parsed = schema.safeParse(await request(method, params));
      if (parsed.success) return parsed.data;
      throw new NodeFailure("garbage", `${method}: ${z.prettifyError(parsed.error).slice(0, 300)}`);
    },
  };
}

/** viem's transport over the same client. Its errors are viem's own, as its decoders expect; nodeFailureOf classifies them. */
export function nodeTransport(options: NodeOptions): Transport {
  const node = createNodeClient(options);
  const request = async ({ method, params }: { method: string; params?: unknown }) => {
    try {
      return await node.request(method, params);
    } catch (error) {
      throw error instanceof NodeFailure && error.cause instanceof BaseError ? error.cause : error;
    }
  };
  return custom({ request }, { retryCount: 0 });
}

async function askOnce(
  http: ReturnType<typeof getHttpRpcClient>,
  { url, timeoutMs, signal, onRequest }: NodeOptions,
  body: { method: string; params: unknown },
): Promise<unknown> {
  const { method } = body;
  const origin = URL.canParse(url) ? new URL(url).origin : "the node";
  signal?.throwIfAborted();
  onRequest?.(method);
  const deadline = AbortSignal.timeout(timeoutMs);
  let response: HttpAnswer | null = null;
  try {
    const answer: unknown = await http.request({
      body,
      onResponse: (received) => {
        response = received;
      },
      // A key in the URL must not travel on.
      fetchOptions: { redirect: "error", signal: AbortSignal.any(signal ? [signal, deadline] : [deadline]) },
    });
    return resultOf({ method, origin, response }, answer);
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof NodeFailure) throw error;
    if (!deadline.aborted) throw failureOfHttpError(method, describeHttp(error, origin, response));
    const cause = new TimeoutError({ body: { method }, url: origin });
    throw new NodeFailure("timeout", `${method}: no answer within ${timeoutMs} ms`, { cause });
  }
}

type HttpAnswer = Pick<Response, "ok" | "status" | "headers">;

const rpcAnswer = z.union([
  z.object({ error: z.object({ code: z.number(), message: z.string(), data: z.unknown().optional() }) }),
  z.object({ result: z.unknown() }),
]);

function resultOf(
  { method, origin, response }: { method: string; origin: string; response: HttpAnswer | null },
  answer: unknown,
): unknown {
  const parsed = rpcAnswer.safeParse(answer);
  if (!parsed.success || (!("error" in parsed.data) && parsed.data.result === undefined))
    throw new NodeFailure("garbage", `${method}: not a JSON-RPC answer`);
  if (!("error" in parsed.data)) return parsed.data.result;
  const { error } = parsed.data;
  const cause = new RpcRequestError({ body: { method }, url: origin, error });
  throw failureOfRpcError(method, error, {
    cause,
    ...(response === null ? {} : { status: response.status, headers: response.headers }),
  });
}

/**
 * The HTTP error without the URL, whose path may hold a key, and with the status of a refusal whose body viem could not parse.
 */
function describeHttp(error: unknown, origin: string, response: HttpAnswer | null): unknown {
  if (!(error instanceof HttpRequestError)) return error;
  const { status, headers } = response === null || response.ok ? error : response;
  return new HttpRequestError({
    url: origin,
    details: error.details,
    ...(status === undefined ? {} : { status }),
    ...(headers === undefined ? {} : { headers }),
    ...(error.cause instanceof Error ? { cause: error.cause } : {}),
  });
}
