import { z } from "zod";
import {
  type ApiDocument,
  type DocumentedOperation,
  inlineSchema,
  memberOf,
} from "../../../service/api/kit/openapi-document.ts";

/** An answer of the server. */
export type FuzzAnswer = {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
  readonly ms: number;
};

/** Whether the body of a 200 says that it was not charged: it is a preview, or a report with nothing to do. */
export function saysFree(body: string): boolean {
  const answer: unknown = body.startsWith("{") ? JSON.parse(body) : null;
  if (typeof answer !== "object" || answer === null) return false;
  return Reflect.get(answer, "preview") === true || Reflect.get(answer, "charged") === false;
}

/** Finds requests that hang, and measures nothing: on a busy machine an answer takes many times as long as on an idle one. */
const SLOWEST_MS = 60_000;
const PROBLEM = "application/problem+json";
/** Of paths and methods that a hostile path may turn the request into, and of what is no request at all. */
const ELSEWHERE = new Set([400, 404, 405, 431]);
/** Traces of code and of statements. */
const LEAK = /\bat .+\.(ts|js|mjs):\d+|\bselect .+ from ahs\.|node_modules|stack/i;

/** Checks an answer against the description of its operation. Returns the fault, or null for a valid answer. */
export function createAnswerCheck(document: ApiDocument) {
  const schemas = new Map<string, z.ZodType>();
  return ({ method, path, operation }: DocumentedOperation, answer: FuzzAnswer): string | null => {
    const { status, headers, body, ms } = answer;
    if (ms > SLOWEST_MS) return `took ${Math.round(ms)} ms`;
    if (status === 500 || status === 502 || status === 504) return `answered ${status}: ${body}`;
    if (headers.get("access-control-allow-origin") !== "*") return `${status} without CORS headers`;
    if (LEAK.test(body) && status >= 400) return `${status} tells of its inside: ${body.slice(0, 300)}`;
    const mediaType = headers.get("content-type") ?? "";
    const described = memberOf(memberOf(operation.responses, String(status)), "content");
    const media = memberOf(described, mediaType);
    if (media === undefined) {
      if (
        body === "" &&
        described === undefined &&
        memberOf(operation.responses, String(status)) !== undefined
      )
        return null;
      return ELSEWHERE.has(status) && mediaType === PROBLEM
        ? null
        : `${status} as ${mediaType} is not documented: ${body.slice(0, 300)}`;
    }
    if (status >= 400 && ![PROBLEM, "application/json"].includes(mediaType))
      return `${status} as ${mediaType}`;
    if (!mediaType.endsWith("json")) return null;
    const key = `${method} ${path} ${status} ${mediaType}`;
    const known = schemas.get(key);
    const schema =
      known ??
      z.fromJSONSchema(
        inlineSchema(memberOf(media, "schema"), document) as Parameters<typeof z.fromJSONSchema>[0],
      );
    if (known === undefined) schemas.set(key, schema);
    const value: unknown = JSON.parse(body);
    const parsed = schema.safeParse(value);
    if (!parsed.success)
      return `${status} does not fit its schema: ${parsed.error.message} in ${body.slice(0, 300)}`;
    if (mediaType === PROBLEM && memberOf(value, "status") !== status)
      return `${status} says another: ${body}`;
    return null;
  };
}
