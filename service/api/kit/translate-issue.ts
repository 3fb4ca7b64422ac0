import type { z } from "zod";
import { echoInput, type ValidationFault } from "./validation-failed.ts";

type Issue = z.core.$ZodIssue;
type Fault = Pick<ValidationFault, "type" | "msg"> & { readonly ctx?: Readonly<Record<string, unknown>> };

/** A zod issue, reported with its input, as the entry that pydantic v2 would give for the same fault. */
export function translateIssue(
  issue: Issue,
  part: "path" | "query" | "body",
  root: unknown,
): ValidationFault {
  const path = issue.path.filter((step) => typeof step !== "symbol");
  const loc = issue.code === "invalid_key" ? [part, ...path, "[key]"] : [part, ...path];
  if (issue.input === undefined && path.length > 0 && !speaksOfAbsence(issue)) {
    return { type: "missing", loc, msg: "Field required", input: echoInput(parentOf(root, path)) };
  }
  const { type, msg, ctx } = tell(issue, issue.input);
  return { type, loc, msg, input: echoInput(givenOf(issue, root)), ...(ctx ? { ctx } : {}) };
}

/** The given value, with its integers as written. */
function givenOf({ input, path }: Issue, root: unknown): unknown {
  if (typeof input !== "number" && typeof input !== "object") return input;
  return valueAt(root, path) ?? input;
}

// A refinement may point to a member that is absent on purpose.
function speaksOfAbsence(issue: Issue): boolean {
  return issue.code === "custom" || issue.code === "unrecognized_keys";
}

function parentOf(root: unknown, path: readonly PropertyKey[]): unknown {
  return valueAt(root, path.slice(0, -1));
}

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  let value: unknown = root;
  for (const step of path) {
    value = typeof value === "object" && value !== null ? Reflect.get(value, step) : undefined;
  }
  return value;
}

function tell(issue: Issue, found: unknown): Fault {
  switch (issue.code) {
    case "invalid_type":
      return wrongType(issue, found);
    case "invalid_value":
      return notOneOf(issue.values);
    case "too_small":
      return tooSmall(issue, found);
    case "too_big":
      return tooBig(issue, found);
    case "invalid_format":
      return wrongFormat(issue, found);
    case "not_multiple_of":
      return fault("multiple_of", `Input should be a multiple of ${issue.divisor}`, {
        multiple_of: issue.divisor,
      });
    case "unrecognized_keys":
      return fault("extra_forbidden", `Extra inputs are not permitted: ${issue.keys.join(", ")}`);
    case "invalid_union":
      return firstOfUnion(issue, found);
    case "invalid_key":
      return firstOfKey(issue, found);
    case "invalid_element":
    case "custom":
      return fault("value_error", `Value error, ${issue.message}`, { error: issue.message });
  }
}

function wrongType(issue: z.core.$ZodIssueInvalidType, found: unknown): Fault {
  switch (issue.expected) {
    case "string":
      return fault("string_type", "Input should be a valid string");
    case "int":
      return noInteger(found);
    case "uuid":
      return fault("uuid_type", "UUID input should be a string, bytes or UUID object");
    case "number":
      return typeof found === "string" && Number.isNaN(Number(found))
        ? fault("float_parsing", "Input should be a valid number, unable to parse string as a number")
        : fault("float_type", "Input should be a valid number");
    case "boolean":
      return typeof found === "string" || Number.isInteger(found)
        ? fault("bool_parsing", "Input should be a valid boolean, unable to interpret input")
        : fault("bool_type", "Input should be a valid boolean");
    case "array":
    case "tuple":
      return fault("list_type", "Input should be a valid list");
    case "object":
      return fault(
        "model_attributes_type",
        "Input should be a valid dictionary or object to extract fields from",
      );
    case "record":
      return fault("dict_type", "Input should be a valid dictionary");
    default:
      return fault("type_error", `Input should be a valid ${issue.expected}`);
  }
}

function noInteger(found: unknown): Fault {
  switch (typeof found) {
    case "string":
      return fault("int_parsing", "Input should be a valid integer, unable to parse string as an integer");
    case "number":
      return fault("int_from_float", "Input should be a valid integer, got a number with a fractional part");
    default:
      return fault("int_type", "Input should be a valid integer");
  }
}

function notOneOf(values: readonly z.core.util.Primitive[]): Fault {
  const quoted = values.map((value) => (typeof value === "string" ? `'${value}'` : String(value)));
  const last = quoted.at(-1) ?? "";
  const expected = quoted.length > 1 ? `${quoted.slice(0, -1).join(", ")} or ${last}` : last;
  return fault("literal_error", `Input should be ${expected}`, { expected });
}

function tooSmall(issue: z.core.$ZodIssueTooSmall, found: unknown): Fault {
  const bound = Number(issue.minimum);
  if (issue.origin === "string") {
    return fault("string_too_short", `String should have at least ${count(bound, "character")}`, {
      min_length: bound,
    });
  }
  if (Array.isArray(found)) {
    const msg = `List should have at least ${count(bound, "item")} after validation, not ${found.length}`;
    return fault("too_short", msg, { field_type: "List", min_length: bound, actual_length: found.length });
  }
  return issue.inclusive
    ? fault("greater_than_equal", `Input should be greater than or equal to ${bound}`, { ge: bound })
    : fault("greater_than", `Input should be greater than ${bound}`, { gt: bound });
}

function tooBig(issue: z.core.$ZodIssueTooBig, found: unknown): Fault {
  const bound = Number(issue.maximum);
  if (issue.origin === "string") {
    return fault("string_too_long", `String should have at most ${count(bound, "character")}`, {
      max_length: bound,
    });
  }
  if (Array.isArray(found)) {
    const msg = `List should have at most ${count(bound, "item")} after validation, not ${found.length}`;
    return fault("too_long", msg, { field_type: "List", max_length: bound, actual_length: found.length });
  }
  return issue.inclusive
    ? fault("less_than_equal", `Input should be less than or equal to ${bound}`, { le: bound })
    : fault("less_than", `Input should be less than ${bound}`, { lt: bound });
}

function wrongFormat(issue: z.core.$ZodIssueInvalidStringFormat, found: unknown): Fault {
  if (issue.format === "uuid" || issue.format === "guid") {
    const error = uuidError(String(found));
    return fault("uuid_parsing", `Input should be a valid UUID, ${error}`, { error });
  }
  const pattern = issue.pattern?.replace(/^\/(.*)\/[a-z]*$/s, "$1");
  if (pattern === undefined)
    return fault("value_error", `Value error, ${issue.message}`, { error: issue.message });
  return fault("string_pattern_mismatch", `String should match pattern '${pattern}'`, { pattern });
}

// The branches of our unions differ by type only, so the faults of the first branch suffice.
function firstOfUnion(issue: z.core.$ZodIssueInvalidUnion, found: unknown): Fault {
  const first = issue.errors[0]?.[0];
  if (first === undefined)
    return fault("value_error", `Value error, ${issue.message}`, { error: issue.message });
  return tell(first, found);
}

/** The fault of a member name. */
function firstOfKey(issue: z.core.$ZodIssueInvalidKey, found: unknown): Fault {
  const [first] = issue.issues;
  return first === undefined
    ? fault("value_error", `Value error, ${issue.message}`, { error: issue.message })
    : tell(first, found);
}

function count(bound: number, noun: string): string {
  return `${bound} ${noun}${bound === 1 ? "" : "s"}`;
}

function fault(type: string, msg: string, ctx?: Readonly<Record<string, unknown>>): Fault {
  return ctx === undefined ? { type, msg } : { type, msg, ctx };
}

const GROUP_STARTS = [0, 9, 14, 19, 24] as const;
const GROUP_LENGTHS = [8, 4, 4, 4, 12] as const;

/** Why a string is no UUID, in the words of the Rust `uuid` crate that pydantic quotes. */
function uuidError(text: string): string {
  const { body, offset } = withoutWrapping(text);
  const bounds: number[] = [];
  for (const [index, character] of [...body].entries()) {
    if (character === "-") bounds.push(index);
    else if (!/^[0-9a-fA-F]$/.test(character)) {
      return `invalid character: found \`${character}\` at ${index + offset + 1}`;
    }
  }
  if (bounds.length === 0 && offset === 0) {
    return `invalid length: expected length 32 for simple format, found ${text.length}`;
  }
  if (bounds.length !== 4) return `invalid group count: expected 5, found ${bounds.length + 1}`;
  return groupError(bounds, text.length);
}

function withoutWrapping(text: string): { readonly body: string; readonly offset: number } {
  if (text.startsWith("{") && text.endsWith("}")) return { body: text.slice(1, -1), offset: 1 };
  if (text.startsWith("urn:uuid:")) return { body: text.slice(9), offset: 9 };
  return { body: text, offset: 0 };
}

function groupError(bounds: readonly number[], length: number): string {
  for (const [group, bound] of bounds.entries()) {
    const start = GROUP_STARTS[group] ?? 0;
    const found = bound - start;
    const expected = GROUP_LENGTHS[group];
    if (found !== expected)
      return `invalid group length in group ${group}: expected ${expected}, found ${found}`;
  }
  return `invalid group length in group 4: expected 12, found ${length - GROUP_STARTS[4]}`;
}
