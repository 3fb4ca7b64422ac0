type Level = "ok" | "warn" | "fail";

/** What a check found, and what to do about it; nothing is to be done where all is well. */
export type Verdict = { readonly level: Level; readonly detail: string; readonly advice: string | null };

export type Finding = Verdict & { readonly check: string };

/** All is well. */
export function fine(detail: string): Verdict {
  return { level: "ok", detail, advice: null };
}

/** Nothing is known of it, for a reason that another finding tells. */
export function unseen(detail: string): Verdict {
  return { level: "warn", detail: `not looked at: ${detail}`, advice: null };
}

/** Works, and wants looking at. */
export function concern(detail: string, advice: string): Verdict {
  return { level: "warn", detail, advice };
}

/** Does not work, or will not for long. */
export function fault(detail: string, advice: string): Verdict {
  return { level: "fail", detail, advice };
}
