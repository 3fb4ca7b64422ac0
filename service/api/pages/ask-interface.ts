import type { ApiContext } from "../api-env.ts";
import type { PageRuntime } from "./page.ts";

/** What a page asks of the interface for the one who looks at it. */
type Question = {
  readonly method: "GET" | "POST";
  /** Path and query. */
  readonly path: string;
  /** The key that it is asked with, and charged to. */
  readonly key: string | null;
  /** Lower-case. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
};

/** Asks the interface in process: access, charges and limits are the endpoint's own, and it counts for the address of the browser. */
export async function askInterface(
  context: ApiContext,
  { dispatch, origin }: Pick<PageRuntime, "dispatch" | "origin">,
  { method, path, key, headers = {}, body }: Question,
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

/** What a refusal says in words; its status where it says none. */
export async function refusalWords(response: Response): Promise<string> {
  return detailIn(await response.text()) ?? `The service answered ${response.status}.`;
}

function detailIn(text: string): string | null {
  try {
    const body: unknown = JSON.parse(text);
    const detail = typeof body === "object" && body !== null && "detail" in body ? body.detail : null;
    return typeof detail === "string" ? detail : null;
  } catch {
    return null;
  }
}
