import { type ParseError, parse, printParseErrorCode } from "jsonc-parser";
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
  const { offset, error } = firstError(text);
  return {
    type: "json_invalid",
    loc: ["body", [...text.slice(0, offset)].length],
    msg: "JSON decode error",
    input: {},
    ctx: { error },
  };
}

// JSON.parse names no position that is the same in every engine version; a tolerant parser does, but it
// recurses, so that nesting beyond the stack is a fault of the body and not of the service.
function firstError(text: string): { readonly offset: number; readonly error: string } {
  const errors: ParseError[] = [];
  try {
    parse(text, errors, { disallowComments: true, allowTrailingComma: false, allowEmptyContent: false });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return { offset: 0, error: "Nested too deeply" };
  }
  const first = errors[0];
  if (first === undefined) return { offset: 0, error: "Expecting value" };
  return { offset: first.offset, error: inPythonsWords(printParseErrorCode(first.error)) };
}

function inPythonsWords(name: ReturnType<typeof printParseErrorCode>): string {
  switch (name) {
    case "PropertyNameExpected":
      return "Expecting property name enclosed in double quotes";
    case "ColonExpected":
      return "Expecting ':' delimiter";
    case "CommaExpected":
    case "CloseBraceExpected":
    case "CloseBracketExpected":
      return "Expecting ',' delimiter";
    case "EndOfFileExpected":
      return "Extra data";
    case "UnexpectedEndOfString":
      return "Unterminated string starting at";
    case "InvalidUnicode":
      return "Invalid \\uXXXX escape";
    case "InvalidEscapeCharacter":
      return "Invalid \\escape";
    case "InvalidCharacter":
      return "Invalid control character at";
    case "InvalidSymbol":
    case "InvalidNumberFormat":
    case "ValueExpected":
    case "InvalidCommentToken":
    case "UnexpectedEndOfComment":
    case "UnexpectedEndOfNumber":
    case "<unknown ParseErrorCode>":
      return "Expecting value";
  }
}
