import { refusalOf } from "./errors.ts";

/** One segment of a path; throws for dots alone, which every URL parser takes for another path. */
export function segment(text: string): string {
  if (!/^\.*$/.test(text)) return encodeURIComponent(text);
  const msg = "Input should name something";
  const body = { detail: [{ type: "value_error", loc: ["path"], msg, input: text }] };
  throw refusalOf({ status: 422, body, requestId: null, retryAfterSeconds: null });
}

/** A value as a query has it; undefined for one that is left out. */
export function queryText(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  return Array.isArray(value) ? value.join(",") : String(value);
}
