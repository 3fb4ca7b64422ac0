/** One thing that `ahs doctor` looks at. Each room exports its checks; `bin/` runs and prints them. */
export type Check = {
  readonly name: string;
  readonly run: () => Promise<Verdict | readonly Verdict[]>;
};

/** Result of a check, with advice unless all is well. */
export type Verdict = {
  readonly level: "ok" | "skip" | "warn" | "fail";
  readonly detail: string;
  readonly advice: string | null;
};

/** All is well. */
export function fine(detail: string): Verdict {
  return { level: "ok", detail, advice: null };
}

/** Not set in this environment, which is allowed. */
export function notConfigured(what?: string): Verdict {
  const detail = "not configured in this environment";
  return { level: "skip", detail: what === undefined ? detail : `${what}: ${detail}`, advice: null };
}

/** Unknown, for a reason that another finding reports. */
export function unseen(detail: string): Verdict {
  return { level: "warn", detail: `not checked: ${detail}`, advice: null };
}

/** Works, and wants looking at. */
export function concern(detail: string, advice: string): Verdict {
  return { level: "warn", detail, advice };
}

/** Does not work, or will not for long. */
export function fault(detail: string, advice: string): Verdict {
  return { level: "fail", detail, advice };
}
