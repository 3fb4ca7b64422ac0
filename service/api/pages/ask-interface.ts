import { z } from "zod";
import { Problem } from "../../access/problems.ts";
import type { ApiContext } from "../kit/api-env.ts";
import { readBody } from "../kit/read-input.ts";
import type { PageRuntime } from "./page.ts";

/** Calls the interface in process: the endpoint checks, charges and limits as usual, for the address of the browser. */
export async function askInterface(
  context: ApiContext,
  { dispatch, origin }: Pick<PageRuntime, "dispatch" | "origin">,
  {
    method,
    path,
    key,
    headers = {},
    body,
  }: {
    readonly method: "GET" | "POST" | "PUT";
    /** Path and query. */
    readonly path: string;
    /** The key that identifies the caller and pays. */
    readonly key: string | null;
    /** Lower-case. */
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string;
  },
): Promise<Response> {
  const forwarded = context.req.header("x-forwarded-for");
  const request = new Request(new URL(path, origin), {
    method,
    signal: context.req.raw.signal,
    headers: {
      accept: "application/json",
      "x-request-id": context.get("requestId"),
      ...(forwarded === undefined ? {} : { "x-forwarded-for": forwarded }),
      ...(key === null ? {} : { "x-api-key": key }),
      ...headers,
    },
    ...(body === undefined ? {} : { body }),
  });
  return dispatch(request, context);
}

/** The text of a refusal, or its status if it has none, and the type of its problem or null. */
export async function readRefusal(
  response: Response,
): Promise<{ readonly type: string | null; readonly words: string }> {
  const { data } = refusalSchema.safeParse(jsonIn(await response.text()));
  const words = data?.detail ?? data?.error ?? `The service answered ${response.status}.`;
  return { type: data?.type ?? null, words };
}

const text = z.string().nullable().catch(null);
const refusalSchema = z.object({ type: text, detail: text, error: text });

/** Parsed JSON; null if the text is not JSON. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The fields of a form. Throws a 400 for a body of another type. */
export async function readForm(context: ApiContext): Promise<URLSearchParams> {
  const [type = ""] = (context.req.header("content-type") ?? "").split(";");
  if (type.trim().toLowerCase() !== "application/x-www-form-urlencoded")
    throw new Problem("request-malformed", "A form of one of these pages was expected.");
  return new URLSearchParams(await readBody(context.req));
}
