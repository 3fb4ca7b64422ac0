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
