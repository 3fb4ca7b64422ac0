import { type FetchFailure, type FetchFailureReason, fetchFailure } from "./exchange.ts";
import { aim, type GuardOptions } from "./guarded-fetch.ts";
import { type OpenAnswer, openPinned } from "./pinned-request.ts";

export type DownloadRequest = {
  readonly url: string;
  /** Most bytes of the body as it comes. */
  readonly maxBytes: number;
  /** Hosts, besides the URL's own, that redirects may lead to. */
  readonly redirectHosts: readonly string[];
};

export type Download =
  /** Its iteration throws a DownloadFailure where the body breaks off, is too long or too late. */
  | { readonly kind: "open"; readonly bytes: AsyncIterable<Uint8Array> }
  | { readonly kind: "status"; readonly status: number }
  /** A redirect that is not followed. */
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
