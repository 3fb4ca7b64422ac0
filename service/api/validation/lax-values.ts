import { z } from "@hono/zod-openapi";

/** Forms of an integer that pydantic reads in a string. */
const INTEGER = /^\s*[+-]?[0-9]+(?:_[0-9]+)*(?:\.0+)?\s*$/;
/** Words that pydantic reads as a boolean, in any case. */
const YES = new Set(["1", "on", "t", "true", "y", "yes"]);
const NO = new Set(["0", "off", "f", "false", "n", "no"]);

/** An integer as pydantic's lax mode reads it: the number, a string of digits, or a boolean as 1 and 0. */
export function laxInteger<Schema extends z.ZodType<number>>(schema: Schema) {
  return z.preprocess((value, context) => {
    if (typeof value === "boolean") return value ? 1 : 0;
    if (typeof value === "string" && INTEGER.test(value)) return Number(value.replaceAll("_", ""));
    if (Number.isInteger(value)) return value;
    context.issues.push({ code: "invalid_type", expected: "int", input: value });
    return z.NEVER;
  }, schema);
}

/** A boolean as pydantic's lax mode reads it: 1 and 0, and the words for yes and no. */
export function laxBoolean() {
  return z.preprocess((value) => {
    const word = typeof value === "number" || typeof value === "string" ? String(value).toLowerCase() : "";
    if (YES.has(word)) return true;
    return NO.has(word) ? false : value;
  }, z.boolean());
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Forms that pydantic reads beside the usual one: in braces, as a URN, and without hyphens. */
const WRAPPED_UUID = /^(?:\{(.{36})\}|urn:uuid:(.{36}))$/;
const SIMPLE_UUID = /^(.{8})(.{4})(.{4})(.{4})(.{12})$/;

/** A UUID as pydantic reads it, in its usual form; what is none in any form is left to the schema. */
export function laxUuid() {
  return z.preprocess((value, context) => {
    if (typeof value === "string") {
      const wrapped = WRAPPED_UUID.exec(value);
      const usual = wrapped?.[1] ?? wrapped?.[2] ?? SIMPLE_UUID.exec(value)?.slice(1).join("-") ?? value;
      return UUID.test(usual) ? usual.toLowerCase() : value;
    }
    // An absent one is missing.
    if (value !== undefined) context.issues.push({ code: "invalid_type", expected: "uuid", input: value });
    return value;
  }, z.guid());
}
