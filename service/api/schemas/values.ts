import { z } from "@hono/zod-openapi";
import { type Address, checksumAddress } from "viem";
import { MICRO } from "../../model/score/fixed-point.ts";

/** Fields of answers, each with its description and, unless the first value of its type suits, an example. */
export const text = (description: string, example?: string) =>
  z.string().openapi(about(description, example));
export const flag = (description: string, example?: boolean) =>
  z.boolean().openapi(about(description, example));
export const num = (description: string, example?: number) => z.number().openapi(about(description, example));
export const int = (description: string, example?: number) => z.int().openapi(about(description, example));
export const count = (description: string, example?: number) =>
  z.int().min(0).openapi(about(description, example));
/** 0 to 1. */
export const share = (description: string, example?: number) =>
  z.number().min(0).max(1).openapi(about(description, example));

function about<Example>(description: string, example: Example | undefined) {
  return example === undefined ? { description } : { description, example };
}

type CamelCase<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;

/** The type of a member in an answer. */
type Shown<Value> = Value extends bigint | Date ? string : Value;

/**
 * The members of an answer that a value has under the same names in camelCase: amounts as decimal strings, dates as ISO 8601. The
 * others, and those that need more than that, are the caller's.
 */
export function fieldsOf<Shape extends object, Value extends object>(shape: Shape, value: Value) {
  const fields = Object.keys(shape).flatMap((name) => {
    const member: unknown = Reflect.get(value, camelCase(name));
    if (member === undefined) return [];
    return [[name, typeof member === "bigint" || member instanceof Date ? shown(member) : member]];
  });
  // The loop above makes what the type says.
  return Object.fromEntries(fields) as {
    [Name in keyof Shape & string as CamelCase<Name> extends keyof Value ? Name : never]: Shown<
      Value[CamelCase<Name> & keyof Value]
    >;
  };
}

function shown(member: bigint | Date): string {
  return typeof member === "bigint" ? String(member) : member.toISOString();
}

function camelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** Micro-USD as US dollars with at most six decimals; null if there is no price. */
export function toUsd(micros: number | bigint): number;
export function toUsd(micros: number | bigint | null): number | null;
export function toUsd(micros: number | bigint | null): number | null {
  return micros === null ? null : Math.round(Number(micros)) / MICRO;
}

/** Unix seconds as ISO 8601. */
export function isoOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}

export const isoSchema = z.iso
  .datetime()
  .openapi({ description: "ISO 8601, UTC", example: "2026-11-20T09:58:00.000Z" });

/** A 32-byte word in an answer. */
export const hashSchema = z
  .string()
  .regex(/^0x[0-9a-f]{64}$/)
  .openapi({ example: "0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d" });

/** An amount in the smallest unit, as a decimal string. */
export const wholeSchema = z.string().regex(/^\d+$/).openapi({ example: "2411368784000" });

/** 0x and 40 hexadecimal digits in any case. */
export const ADDRESS_PATTERN = /^0x[0-9a-fA-F]{40}$/;

/** A wallet address in any case; mixed case must satisfy EIP-55. Parsed to lower case, as stored. */
export const addressSchema = z
  .string()
  .regex(ADDRESS_PATTERN, { abort: true })
  .refine(hasValidCase, {
    error: ({ input }) =>
      `mixed-case address fails its EIP-55 checksum: got ${String(input)}, expected ${toEip55(String(input))}`,
  })
  .transform(lowerCase);

/** The path parameter of most endpoints. */
export const addressParams = z.object({
  address: addressSchema.openapi({
    type: "string",
    pattern: ADDRESS_PATTERN.source,
    description: "Wallet address: 0x and 40 hexadecimal digits in any case. Mixed case must satisfy EIP-55.",
    example: "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
  }),
});

/** A registry's address, or its account id by CAIP-10, as an agent registry string of ERC-8004 has it. */
const REGISTRY_PATTERN = /^(?:eip155:[1-9][0-9]{0,14}:)?0x[0-9a-fA-F]{40}$/;

/** A registry of agents. Parsed to its lower-case address and its chain, null if none is named. */
export const registrySchema = z
  .string()
  .regex(REGISTRY_PATTERN, { abort: true })
  .refine((text) => hasValidCase(accountIn(text)), {
    error: ({ input }) => {
      const address = accountIn(String(input));
      return `mixed-case address fails its EIP-55 checksum: got ${address}, expected ${toEip55(address)}`;
    },
  })
  .transform((text) => {
    const chain = text.split(":").at(-2);
    return { chainId: chain === undefined ? null : Number(chain), address: lowerCase(accountIn(text)) };
  })
  .openapi({
    type: "string",
    pattern: REGISTRY_PATTERN.source,
    description:
      "The ERC-8004 registry: its address on the deployment's chain in any case, or `eip155:CHAIN:ADDRESS` (CAIP-10)",
    example: "0x8004A169FB4a3325136EB29fA0ceB6D2e539a432",
  });

export const severitySchema = z
  .enum(["info", "warning", "critical"])
  .openapi({ description: "The one scale of all findings", example: "warning" });

/** An address in an answer: always EIP-55. */
export const eip55Schema = z.string().regex(ADDRESS_PATTERN).openapi({
  description: "EIP-55 address",
  example: "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
});

/** An address in EIP-55. */
export function toEip55(address: string): Address {
  return checksumAddress(lowerCase(address));
}

/** The address of a CAIP-10 account id. */
function accountIn(text: string): string {
  return text.slice(text.lastIndexOf(":") + 1);
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

/** `a,b` or a repeated parameter as one list; the schema of the list refuses anything else. */
export function splitList(value: unknown): unknown {
  const texts = typeof value === "string" ? [value] : value;
  return Array.isArray(texts) ? texts.flatMap((text) => String(text).split(",")) : texts;
}

/** Integers in strings that pydantic accepts. */
const INTEGER = /^\s*[+-]?[0-9]+(?:_[0-9]+)*(?:\.0+)?\s*$/;
/** Words that pydantic accepts as booleans, in any case. */
const YES = new Set(["1", "on", "t", "true", "y", "yes"]);
const NO = new Set(["0", "off", "f", "false", "n", "no"]);

/** A decimal without sign and exponent, of at most 6 decimals. */
const DECIMAL_PATTERN = /^\d{1,10}(?:\.\d{1,6})?$/;

/**
 * A decimal of at most 6 decimals, as a string or as a number of JSON. Parsed without rounding to millionths, a safe integer, so
 * that equal amounts are equal requests. The bounds are millionths as well.
 */
export function microDecimal({ least, most }: { readonly least: number; readonly most: number }) {
  const expected = `from ${least / MICRO} to ${most / MICRO}`;
  return z
    .union([z.string(), z.number()])
    .transform(String)
    .pipe(
      z
        .string()
        .regex(DECIMAL_PATTERN, {
          abort: true,
          error: ({ input }) => `expected a decimal ${expected} with at most 6 decimals, got ${input}`,
        })
        .transform(toMicros),
    )
    .refine((micros) => micros >= least && micros <= most, {
      error: ({ input }) => `expected a decimal ${expected}, got ${Number(input) / MICRO}`,
    })
    .openapi({
      type: ["string", "number"],
      pattern: DECIMAL_PATTERN.source,
      minimum: least / MICRO,
      maximum: most / MICRO,
    });
}

function toMicros(decimal: string): number {
  const [whole = "", decimals = ""] = decimal.split(".");
  return Number(whole) * MICRO + Number(decimals.padEnd(6, "0"));
}

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
