import { type FetchAnswer, type FetchFailure, fetchFailure, type GuardedRequest } from "./exchange.ts";
import { requestPinned } from "./pinned-request.ts";
import { mayConnect, readTarget, type Target, type TargetPolicy } from "./read-target.ts";
import type { ResolveName } from "./resolve-name.ts";

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

/** Whom a URL leads to, and the addresses that may be connected to for it. */
export type Aim = {
  readonly kind: "aim";
  readonly target: Target;
  readonly addresses: readonly string[];
};

/** Reads and resolves a URL, once, and refuses every target that the policy does not allow. */
export async function aim(
  url: string,
  {
    resolve,
    signal,
    ...given
  }: Partial<TargetPolicy> & Pick<GuardOptions, "resolve"> & { readonly signal: AbortSignal },
): Promise<Aim | FetchFailure> {
  const policy = policyOf(given);
  const target = readTarget(url, policy);
  if (target.kind === "failed") return target;
  const addresses = target.addresses ?? (await resolveWithin(target, resolve, signal));
  if (!isList(addresses)) return addresses;
  return mayConnect(target, addresses, policy)
    ? { kind: "aim", target, addresses }
    : fetchFailure("refused_target");
}

/** The policy that these options leave. */
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
    // Why a name server gave no answer is nobody's business but the operator's.
    return fetchFailure(signal.aborted ? "timeout" : "dns_unavailable");
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

function isList(value: readonly string[] | FetchFailure): value is readonly string[] {
  return Array.isArray(value);
}
