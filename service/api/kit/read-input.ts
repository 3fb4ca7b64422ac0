import type { HonoRequest } from "hono";
import type { z } from "zod";
import { Problem } from "../../access/problems.ts";
import { translateIssue } from "./translate-issue.ts";
import { ValidationFailed, type ValidationFault } from "./validation-failed.ts";

/** The schemas of a request; `body` is null if none is read. */
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
  const checked = check(schema, "body", parsed.value, () =>
    typeof parsed.value !== "string" && LARGE_INTEGER.test(text) ? parseExactly(text) : parsed.value,
  );
  return checked.ok || isJson(request.header("content-type")) ? checked : withContentType(checked, request);
}

/** Names the cause of faults of a body that was not read as JSON. */
function withContentType(
  { faults }: { readonly faults: readonly ValidationFault[] },
  request: HonoRequest,
): { readonly ok: false; readonly faults: readonly ValidationFault[] } {
  const given = request.header("content-type")?.slice(0, 128) ?? "none";
  const cause = `: expected Content-Type application/json, got ${given}`;
  return { ok: false, faults: faults.map((fault) => ({ ...fault, msg: `${fault.msg}${cause}` })) };
}

/** A number this long may lose digits. */
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

/** Drops length faults of values of a wrong type, which zod reports as well. */
function firstOfEachPlace(issues: readonly z.core.$ZodIssue[]): readonly z.core.$ZodIssue[] {
  const places = issues.flatMap(({ code, path }) => (code === "invalid_type" ? [JSON.stringify(path)] : []));
  const mistyped = new Set(places);
  return issues.filter(({ code, path }) => !LENGTH_FAULTS.has(code) || !mistyped.has(JSON.stringify(path)));
}

const LENGTH_FAULTS: ReadonlySet<string> = new Set(["too_small", "too_big"]);

/** A parameter given once is a string, a repeated one a list. */
function rawQuery(request: HonoRequest): Record<string, string | readonly string[]> {
  if (!request.url.includes("?")) return {};
  return Object.fromEntries(
    Object.entries(request.queries()).map(([name, values]) => [
      name,
      values.length === 1 ? (values[0] ?? "") : values,
    ]),
  );
}

/** Reads a JSON body as FastAPI does: an absent body is `undefined`, a body of another type stays text. */
function parseJsonBody(
  text: string,
  contentType: string | undefined,
):
  | { readonly kind: "parsed"; readonly value: unknown }
  | { readonly kind: "fault"; readonly fault: ValidationFault } {
  if (text === "") return { kind: "parsed", value: undefined };
  if (!isJson(contentType)) return { kind: "parsed", value: text };
  try {
    return { kind: "parsed", value: JSON.parse(text) };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { kind: "fault", fault: jsonFault(text) };
  }
}

function isJson(contentType: string | undefined): boolean {
  return contentType !== undefined && /^application\/([\w.+-]+\+)?json\s*(;|$)/i.test(contentType.trim());
}

function jsonFault(text: string): ValidationFault {
  // The position that JSON.parse reports depends on the engine version.
  const { offset, error } = findJsonFault(text) ?? { offset: 0, error: "Expecting value" };
  return {
    type: "json_invalid",
    loc: ["body", [...text.slice(0, offset)].length],
    msg: "JSON decode error",
    input: {},
    ctx: { error },
  };
}

/** Parses JSON and keeps integers beyond 2^53 as written, for faults. */
function parseExactly(text: string): unknown {
  try {
    return parseWithSources(text, (value, source) =>
      typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(source)
        ? rawJson(source)
        : value,
    );
  } catch {
    // Revivers recurse, so nesting that JSON.parse accepts may be too deep for them.
    return JSON.parse(text);
  }
}

/** TypeScript has no type for the source texts that ECMAScript 2026 gives to revivers. */
function parseWithSources(text: string, revive: (value: unknown, source: string) => unknown): unknown {
  const reviver = (_key: string, value: unknown, { source = "" }: { readonly source?: string }) =>
    revive(value, source);
  return JSON.parse(text, reviver as Parameters<typeof JSON.parse>[1]);
}

/** A value that serializes as this text; TypeScript has no type for JSON.rawJSON. */
function rawJson(source: string): unknown {
  return (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(source);
}

/** Where a text stops being JSON, in UTF-16 units, and why. */
type JsonFault = { readonly offset: number; readonly error: string };

/** The next expected token and its position. */
type Step = { readonly due: "value" | "name" | "after" | "nothing"; readonly at: number };

/** The first fault of a JSON text, with position and message of Python's json module; null if the text is valid. */
function findJsonFault(text: string): JsonFault | null {
  // Closers of the open objects and arrays: an own stack, because hostile nesting overflows that of the engine.
  const closers: string[] = [];
  let step: Step | JsonFault = { due: "value", at: afterBlanks(text, 0) };
  while (!("error" in step)) {
    if (step.due === "nothing") return null;
    step = take(text, step, closers);
  }
  return step;
}

function take(text: string, { due, at }: Step, closers: string[]): Step | JsonFault {
  switch (due) {
    case "value":
      return takeValue(text, at, closers);
    case "name":
      return takeName(text, at);
    case "after":
      return takeAfter(text, at, closers);
    case "nothing":
      return { due, at };
  }
}

function takeValue(text: string, at: number, closers: string[]): Step | JsonFault {
  const first = text[at];
  if (first === "{" || first === "[") {
    const inside = afterBlanks(text, at + 1);
    closers.push(first === "{" ? "}" : "]");
    return text[inside] === closers.at(-1)
      ? { due: "after", at: inside }
      : { due: first === "{" ? "name" : "value", at: inside };
  }
  if (first === '"') {
    const end = endOfString(text, at);
    return typeof end === "number" ? { due: "after", at: afterBlanks(text, end) } : end;
  }
  const end = endOf(/null|true|false|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y, text, at);
  if (end === null) return { offset: at, error: "Expecting value" };
  return { due: "after", at: afterBlanks(text, end) };
}

function takeName(text: string, at: number): Step | JsonFault {
  if (text[at] !== '"') return { offset: at, error: "Expecting property name enclosed in double quotes" };
  const end = endOfString(text, at);
  if (typeof end !== "number") return end;
  const colon = afterBlanks(text, end);
  if (text[colon] !== ":") return { offset: colon, error: "Expecting ':' delimiter" };
  return { due: "value", at: afterBlanks(text, colon + 1) };
}

function takeAfter(text: string, at: number, closers: string[]): Step | JsonFault {
  const closer = closers.at(-1);
  if (closer === undefined)
    return at === text.length ? { due: "nothing", at } : { offset: at, error: "Extra data" };
  if (text[at] === closer) {
    closers.pop();
    return { due: "after", at: afterBlanks(text, at + 1) };
  }
  if (text[at] !== ",") return { offset: at, error: "Expecting ',' delimiter" };
  return { due: closer === "}" ? "name" : "value", at: afterBlanks(text, at + 1) };
}

/** The position after a string. */
function endOfString(text: string, begin: number): number | JsonFault {
  let at = begin + 1;
  for (;;) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: a JSON string must not contain them
    at = endOf(/[^"\\\u0000-\u001f]*/y, text, at) ?? at;
    if (text[at] === '"') return at + 1;
    if (at >= text.length) return { offset: begin, error: "Unterminated string starting at" };
    if (text[at] !== "\\") return { offset: at, error: "Invalid control character at" };
    const escaped = text[at + 1];
    if (escaped === undefined) return { offset: begin, error: "Unterminated string starting at" };
    const end = endOf(/\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}(?=[\s\S]))/y, text, at);
    if (end === null && escaped === "u") return { offset: at + 1, error: "Invalid \\uXXXX escape" };
    if (end === null) return { offset: at, error: "Invalid \\escape" };
    at = end;
  }
}

function afterBlanks(text: string, at: number): number {
  return endOf(/[ \t\n\r]*/y, text, at) ?? at;
}

/** The position after the match of a sticky expression; null without a match. */
function endOf(pattern: RegExp, text: string, at: number): number | null {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : null;
}

/** Maximum size of a request body. */
export const BODY_LIMIT_BYTES = 2 * 1024 * 1024;

const IDENTITY = "identity";

/**
 * The body as text. Throws a 415 problem if it is compressed, a 413 beyond the limit without reading further, a 408 if it does
 * not end in time, and a 400 if it is not UTF-8.
 */
export async function readBody(request: HonoRequest): Promise<string> {
  const encoding = request.header("content-encoding")?.trim().toLowerCase() ?? IDENTITY;
  if (encoding !== IDENTITY && encoding !== "") throw encoded(encoding);
  const declared = Number(request.header("content-length"));
  if (declared > BODY_LIMIT_BYTES) throw tooLarge();
  const stream = request.raw.body;
  if (stream === null) return "";
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of stream) {
      bytes += chunk.byteLength;
      if (bytes > BODY_LIMIT_BYTES) throw tooLarge();
      chunks.push(chunk);
    }
  } catch (error) {
    // Any other early end means that the client disconnected or timed out.
    throw error instanceof Problem
      ? error
      : new Problem("request-timeout", "The body broke off.", { cause: error });
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
  } catch (error) {
    // FastAPI's words.
    throw new Problem("body-malformed", "There was an error parsing the body", { cause: error });
  }
}

function encoded(encoding: string): Problem {
  return new Problem(
    "encoding-unsupported",
    `Expected a body without Content-Encoding, got "${encoding.slice(0, 64)}".`,
    { headers: { "accept-encoding": IDENTITY } },
  );
}

function tooLarge(): Problem {
  return new Problem("body-too-large", `The body exceeds ${BODY_LIMIT_BYTES} bytes.`);
}
