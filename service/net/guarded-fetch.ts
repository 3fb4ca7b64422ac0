import {
  type FetchAnswer,
  type FetchFailure,
  type FetchFailureReason,
  fetchFailure,
  type GuardedRequest,
} from "./exchange.ts";
import { type OpenAnswer, openPinned, requestPinned } from "./pinned-request.ts";
import type { ResolveName } from "./public-address.ts";
import { mayConnect, readTarget, type Target, type TargetPolicy } from "./read-target.ts";

/** Fetches a URL that a stranger named, within the guard's limits; every refusal and failure is a value. */
export type GuardedFetch = (request: GuardedRequest) => Promise<FetchAnswer | FetchFailure>;

export type GuardOptions = Partial<TargetPolicy> & {
  readonly resolve: ResolveName;
  /** Milliseconds from the call to the last byte, resolving included. */
  readonly deadlineMs?: number;
  /** PEM certificates trusted instead of the public authorities. */
  readonly ca?: string;
};

const DEADLINE_MS = 10_000;
/** https, and the one other port that public services commonly use for it. */
const PORTS = [443, 8_443] as const;
const MAX_REQUEST_BYTES = 65_536;

/**
 * The only way to fetch a stranger's URL: https on an allowed port, a host all of whose addresses are public, resolved once
 * and connected to at exactly those addresses, no redirects, 10 s in all, 64 KiB of body and 16 KiB of headers. Everything
 * is checked at every call. Throws only for a caller's mistake: a body over 64 KiB, or a header that HTTP cannot carry.
 */
export function createGuardedFetch(options: GuardOptions): GuardedFetch {
  return async (request) => {
    if (request.body !== undefined && request.body.length > MAX_REQUEST_BYTES) {
      throw new RangeError(
        `expected a request body of at most ${MAX_REQUEST_BYTES} bytes, got ${request.body.length}`,
      );
    }
    const deadline = AbortSignal.timeout(options.deadlineMs ?? DEADLINE_MS);
    const signal = request.signal === undefined ? deadline : AbortSignal.any([deadline, request.signal]);
    const aimed = await aim(request.url, { ...options, signal });
    return aimed.kind === "failed" ? aimed : requestPinned({ request, ...aimed, signal, ca: options.ca });
  };
}

/** Reads and resolves a URL, once, and refuses every target that the policy does not allow. */
export async function aim(
  url: string,
  {
    resolve,
    signal,
    ...given
  }: Partial<TargetPolicy> & Pick<GuardOptions, "resolve"> & { readonly signal: AbortSignal },
): Promise<{ kind: "aim"; target: Target; addresses: readonly string[] } | FetchFailure> {
  const policy = policyOf(given);
  const target = readTarget(url, policy);
  if (target.kind === "failed") return target;
  const addresses = target.addresses ?? (await resolveWithin(target, resolve, signal));
  if (!isList(addresses)) return addresses;
  return mayConnect(target, addresses, policy)
    ? { kind: "aim", target, addresses }
    : fetchFailure("refused_target");
}

export function policyOf({ ports = PORTS, loopback = "refused" }: Partial<TargetPolicy>): TargetPolicy {
  return { ports, loopback };
}

/** The resolver may ignore the signal: its answer is waited for no longer than the signal allows. */
async function resolveWithin(
  { host }: Target,
  resolve: ResolveName,
  signal: AbortSignal,
): Promise<readonly string[] | FetchFailure> {
  if (signal.aborted) return fetchFailure("timeout");
  const aborted = Promise.withResolvers<FetchFailure>();
  const onAbort = () => aborted.resolve(fetchFailure("timeout"));
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    const addresses = await Promise.race([resolve(host, signal), aborted.promise]);
    return isList(addresses) && addresses.length === 0 ? fetchFailure("dns_failure") : addresses;
  } catch {
    // Only the operator may learn why a name server did not answer.
    return fetchFailure(signal.aborted ? "timeout" : "dns_unavailable");
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

function isList(value: readonly string[] | FetchFailure): value is readonly string[] {
  return Array.isArray(value);
}

export type DownloadRequest = {
  readonly url: string;
  readonly maxBytes: number;
  /** Hosts, besides the URL's own, that redirects may lead to. */
  readonly redirectHosts: readonly string[];
};

export type Download =
  /** Its iteration throws a DownloadFailure where the body breaks off, is too long or too late. */
  | { kind: "open"; bytes: AsyncIterable<Uint8Array> }
  | { readonly kind: "status"; readonly status: number }
  | { readonly kind: "elsewhere"; readonly host: string }
  | FetchFailure;

/** Why the body of a download ended before it was whole. */
export class DownloadFailure extends Error {
  override readonly name = "DownloadFailure";
  readonly reason: FetchFailureReason;

  constructor({ reason, detail }: FetchFailure) {
    super(detail);
    this.reason = reason;
  }
}

const MAX_REDIRECTS = 5;

/**
 * Downloads a large file with the guard of `createGuardedFetch`, checked anew at every redirect: only https on an allowed
 * port of a public host, pinned to the addresses resolved once, and redirects only within the host or to hosts named. The
 * deadline spans everything to the last byte.
 */
export function createGuardedDownload(
  options: GuardOptions & { readonly deadlineMs: number },
): (request: DownloadRequest) => Promise<Download> {
  return async ({ url, maxBytes, redirectHosts }) => {
    const signal = AbortSignal.timeout(options.deadlineMs);
    const hosts = new Set(redirectHosts.map((host) => host.toLowerCase()));
    let next = url;
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
      const aimed = await aim(next, { ...options, signal });
      if (aimed.kind === "failed") return aimed;
      hosts.add(new URL(next).hostname);
      const opened = await openPinned({ request: { url: next }, ...aimed, signal, ca: options.ca });
      if (opened.kind === "failed") return opened;
      const { statusCode = 0, headers } = opened.message;
      if (statusCode === 200) return bodyOf(opened, maxBytes);
      opened.close();
      const location = statusCode >= 301 && statusCode <= 308 ? headers.location : undefined;
      if (location === undefined) return { kind: "status", status: statusCode };
      if (!URL.canParse(location, next)) return fetchFailure("malformed_answer");
      next = new URL(location, next).href;
      const { hostname } = new URL(next);
      if (!hosts.has(hostname)) return { kind: "elsewhere", host: hostname };
    }
    return fetchFailure("malformed_answer");
  };
}

function bodyOf(opened: OpenAnswer, maxBytes: number): Download {
  const stated = Number(opened.message.headers["content-length"] ?? 0);
  if (stated > maxBytes) {
    opened.close();
    return fetchFailure("too_large");
  }
  return { kind: "open", bytes: bounded(opened, maxBytes) };
}

async function* bounded(opened: OpenAnswer, maxBytes: number): AsyncGenerator<Uint8Array> {
  let length = 0;
  try {
    for await (const chunk of opened.message as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > maxBytes) throw new DownloadFailure(fetchFailure("too_large"));
      yield chunk;
    }
    const fault = opened.fault();
    if (fault !== null) throw fault;
  } catch (error) {
    throw error instanceof DownloadFailure ? error : new DownloadFailure(opened.failureOf(error));
  } finally {
    opened.close();
  }
}
