import { findJsonFault } from "./find-json-fault.ts";
import type { ValidationFault } from "./validation-failed.ts";

/** The parsed body, or the fault that keeps it from being one. */
export type ParsedBody =
  | { readonly kind: "parsed"; readonly value: unknown }
  | { readonly kind: "fault"; readonly fault: ValidationFault };

/** Reads a JSON body as FastAPI does: an absent one is `undefined`, one that is not declared as JSON stays text. */
export function parseJsonBody(text: string, contentType: string | undefined): ParsedBody {
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
  // JSON.parse names no position that is the same in every engine version.
  const { offset, error } = findJsonFault(text) ?? { offset: 0, error: "Expecting value" };
  return {
    type: "json_invalid",
    loc: ["body", [...text.slice(0, offset)].length],
    msg: "JSON decode error",
    input: {},
    ctx: { error },
  };
}

/** A JSON text whose integers beyond 2^53 are kept as they were written, for faults to repeat. */
export function parseExactly(text: string): unknown {
  try {
    return parseWithSources(text, (value, source) =>
      typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(source)
        ? rawJson(source)
        : value,
    );
  } catch {
    // Revivers recurse: nesting that JSON.parse takes may be too deep for them.
    return JSON.parse(text);
  }
}

type SourceReviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown;

/** TypeScript does not know of the source texts that ECMAScript 2026 gives to revivers. */
function parseWithSources(text: string, revive: (value: unknown, source: string) => unknown): unknown {
  const reviver: SourceReviver = (_key, value, { source = "" }) => revive(value, source);
  return JSON.parse(text, reviver as Parameters<typeof JSON.parse>[1]);
}

/** Serializes as this text; nor does it know of JSON.rawJSON. */
function rawJson(source: string): unknown {
  return (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(source);
}
