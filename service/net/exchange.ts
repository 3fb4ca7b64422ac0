export type GuardedRequest = {
  /** Named by a stranger. */
  readonly url: string;
  readonly method?: "GET" | "HEAD" | "POST";
  /** Lower-case names; those of the connection, the length and the encoding are set by the fetch itself. */
  readonly headers?: Readonly<Record<string, string>>;
  /** At most 64 KiB. */
  readonly body?: Uint8Array;
  /** Whether a compressed answer is asked for and undone; false leaves bytes as they come. */
  readonly decompress?: boolean;
  /**
   * start: the first 64 KiB are answer enough, and of an event stream its first event, as they come. whole, unless given:
   * a larger answer is refused.
   */
  readonly part?: "whole" | "start";
  /** Ends the fetch early, as a timeout. */
  readonly signal?: AbortSignal;
};

/**
 * Why a guarded fetch gave no answer. None of these says which address was involved: the caller that named
 * the URL may see the reason.
 */
export type FetchFailureReason =
  | "invalid_url"
  | "refused_target"
  | "dns_failure"
  | "dns_unavailable"
  | "connection"
  | "tls"
  | "timeout"
  | "too_large"
  | "malformed_answer";

export type FetchFailure = {
  readonly kind: "failed";
  readonly reason: FetchFailureReason;
  /** A fixed sentence for the reason. */
  readonly detail: string;
};

export type FetchAnswer = {
  readonly kind: "answered";
  /** Any final status; a redirect is an answer like others and is never followed. */
  readonly status: number;
  /** Lower-case names; values of a repeated header are joined by ", ". */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Uint8Array;
};

const DETAILS: Record<FetchFailureReason, string> = {
  invalid_url: "The URL cannot be read as an absolute URL of at most 2,048 characters.",
  refused_target:
    "The URL must be https, without user information, on an allowed port of a host whose addresses are all public.",
  dns_failure: "The host name could not be resolved.",
  dns_unavailable: "No name server answered for the host name.",
  connection: "The connection could not be made, or broke before the answer was complete.",
  tls: "The host did not prove its name with a valid certificate.",
  timeout: "The answer was not complete within the time allowed.",
  too_large: "The answer was larger than allowed.",
  malformed_answer: "The answer was not valid HTTP, or its content encoding could not be undone.",
};

/** The failure value of a reason, with the fixed sentence that describes it, or one that says more. */
export function fetchFailure(reason: FetchFailureReason, detail: string = DETAILS[reason]): FetchFailure {
  return { kind: "failed", reason, detail };
}
