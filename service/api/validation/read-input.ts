import type { HonoRequest } from "hono";
import type { z } from "zod";
import { parseExactly, parseJsonBody } from "./parse-json-body.ts";
import { readBody } from "./read-body.ts";
import { translateIssue } from "./translate-issue.ts";
import { ValidationFailed, type ValidationFault } from "./validation-failed.ts";

/** The schemas of one endpoint's request; `body` is null where none is read. */
export type RequestSchemas<Params, Query, Body> = {
  readonly params: z.ZodType<Params>;
  readonly query: z.ZodType<Query>;
  readonly body: z.ZodType<Body> | null;
};

export type RequestInput<Params, Query, Body> = {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body | null;
};

type Checked<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly faults: readonly ValidationFault[] };

/** Path, query and body of a request by their schemas, no body where its schema has a default; throws ValidationFailed with the faults of all three. */
export async function readInput<Params, Query, Body>(
  request: HonoRequest,
  schemas: RequestSchemas<Params, Query, Body>,
): Promise<RequestInput<Params, Query, Body>> {
  const params = check(schemas.params, "path", request.param());
  const query = check(schemas.query, "query", rawQuery(request));
  const body = schemas.body === null ? NO_BODY : await checkBody(request, schemas.body);
  if (params.ok && query.ok && body.ok) return { params: params.value, query: query.value, body: body.value };
  throw new ValidationFailed([params, query, body].flatMap((part) => (part.ok ? [] : part.faults)));
}

const NO_BODY = { ok: true, value: null } as const;

async function checkBody<Body>(request: HonoRequest, schema: z.ZodType<Body>): Promise<Checked<Body>> {
  const text = await readBody(request);
  const parsed = parseJsonBody(text, request.header("content-type"));
  if (parsed.kind === "fault") return { ok: false, faults: [parsed.fault] };
  if (parsed.value === undefined) {
    const absent = schema.safeParse(undefined);
    if (absent.success) return { ok: true, value: absent.data };
  }
  if (parsed.value === undefined || parsed.value === null) {
    return { ok: false, faults: [{ type: "missing", loc: ["body"], msg: "Field required", input: null }] };
  }
  return check(schema, "body", parsed.value, () =>
    typeof parsed.value !== "string" && LARGE_INTEGER.test(text) ? parseExactly(text) : parsed.value,
  );
}

/** Digits that a number may lose. */
const LARGE_INTEGER = /\d{16}/;

function check<Value>(
  schema: z.ZodType<Value>,
  part: "path" | "query" | "body",
  raw: unknown,
  shown: () => unknown = () => raw,
): Checked<Value> {
  const parsed = schema.safeParse(raw, { reportInput: true });
  if (parsed.success) return { ok: true, value: parsed.data };
  const root = shown();
  const faults = firstOfEachPlace(parsed.error.issues).map((issue) => translateIssue(issue, part, root));
  return { ok: false, faults };
}

/** A value of another type has no other fault: zod counts the members of a list that should be a string as well. */
function firstOfEachPlace(issues: readonly z.core.$ZodIssue[]): readonly z.core.$ZodIssue[] {
  const places = issues.flatMap(({ code, path }) => (code === "invalid_type" ? [JSON.stringify(path)] : []));
  const mistyped = new Set(places);
  return issues.filter(({ code, path }) => !LENGTH_FAULTS.has(code) || !mistyped.has(JSON.stringify(path)));
}

const LENGTH_FAULTS: ReadonlySet<string> = new Set(["too_small", "too_big"]);

/** A parameter given once is a string, one given again a list of them. */
function rawQuery(request: HonoRequest): Record<string, string | readonly string[]> {
  if (!request.url.includes("?")) return {};
  return Object.fromEntries(
    Object.entries(request.queries()).map(([name, values]) => [
      name,
      values.length === 1 ? (values[0] ?? "") : values,
    ]),
  );
}
