import { z } from "@hono/zod-openapi";
import { type Address, checksumAddress } from "viem";

/** Unix seconds as ISO 8601. */
export function isoOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}

export const isoSchema = z.iso.datetime().openapi({ description: "ISO 8601, UTC" });

/** A 32-byte word in an answer. */
export const hashSchema = z.string().regex(/^0x[0-9a-f]{64}$/);

/** 0x and 40 hexadecimal digits in any case. */
export const ADDRESS_PATTERN = /^0x[0-9a-fA-F]{40}$/;

/** A wallet address in any case; mixed case must satisfy EIP-55. Parsed to lower case, as stored. */
export const addressSchema = z
  .string()
  .regex(ADDRESS_PATTERN, { abort: true })
  .refine(hasValidCase, {
    error: ({ input }) => `mixed-case address fails its EIP-55 checksum: ${String(input)}`,
  })
  .transform(lowerCase);

/** The path parameter of most endpoints. */
export const addressParams = z.object({
  address: addressSchema.openapi({
    param: { name: "address", in: "path" },
    type: "string",
    pattern: ADDRESS_PATTERN.source,
    description: "Wallet address: 0x and 40 hexadecimal digits in any case. Mixed case must satisfy EIP-55.",
    example: "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
  }),
});

/** An address in an answer: always EIP-55. */
export const eip55Schema = z.string().regex(ADDRESS_PATTERN).openapi({
  description: "EIP-55 address",
  example: "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
});

/** An address in EIP-55. */
export function toEip55(address: string): Address {
  return checksumAddress(lowerCase(address));
}

// Callers pass addresses that the pattern, the chain or the database has checked.
function lowerCase(address: string): Address {
  return address.toLowerCase() as Address;
}

function hasValidCase(address: string): boolean {
  const digits = address.slice(2);
  if (digits === digits.toLowerCase() || digits === digits.toUpperCase()) return true;
  return toEip55(address) === address;
}

/** Integers in strings that pydantic accepts. */
const INTEGER = /^\s*[+-]?[0-9]+(?:_[0-9]+)*(?:\.0+)?\s*$/;
/** Words that pydantic accepts as booleans, in any case. */
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

/** A UUID in its usual form, from any form that pydantic accepts. The schema refuses all others. */
export function laxUuid() {
  return z.preprocess((value, context) => {
    if (typeof value === "string") {
      const wrapped = WRAPPED_UUID.exec(value);
      const usual = wrapped?.[1] ?? wrapped?.[2] ?? SIMPLE_UUID.exec(value)?.slice(1).join("-") ?? value;
      return UUID.test(usual) ? usual.toLowerCase() : value;
    }
    if (value !== undefined) context.issues.push({ code: "invalid_type", expected: "uuid", input: value });
    return value;
  }, z.guid());
}
