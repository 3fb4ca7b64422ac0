import { z } from "@hono/zod-openapi";
import { describe, expect, it } from "vitest";
import { translateIssue } from "../../../../service/api/kit/translate-issue.ts";
import { fieldsOf, laxBoolean, laxInteger, laxUuid } from "../../../../service/api/schemas/values.ts";

/** Returns the parsed value, or the type of the reported fault. */
function read(schema: z.ZodType, value: unknown): unknown {
  const parsed = schema.safeParse(value, { reportInput: true });
  if (parsed.success) return parsed.data;
  return parsed.error.issues.map((issue) => translateIssue(issue, "body", value).type);
}

// As pydantic 2.13 answers them.
describe("a value that pydantic's lax mode reads", () => {
  it.each([
    ["31337", 31_337],
    [" +31_337 ", 31_337],
    ["-5.00", -5],
    [7, 7],
    [true, 1],
    ["1.", ["int_parsing"]],
    ["1__0", ["int_parsing"]],
    ["1e3", ["int_parsing"]],
    ["", ["int_parsing"]],
    [1.5, ["int_from_float"]],
    [null, ["int_type"]],
    [{}, ["int_type"]],
  ])("for an integer: %j is %j", (value, expected) => {
    expect(read(laxInteger(z.int()), value)).toEqual(expected);
  });

  it.each([
    ["yes", true],
    ["ON", true],
    [1, true],
    ["f", false],
    [0, false],
    [false, false],
    ["maybe", ["bool_parsing"]],
    ["", ["bool_parsing"]],
    [" true", ["bool_parsing"]],
    [2, ["bool_parsing"]],
    [1.5, ["bool_type"]],
    [null, ["bool_type"]],
    [[], ["bool_type"]],
  ])("for a boolean: %j is %j", (value, expected) => {
    expect(read(laxBoolean(), value)).toEqual(expected);
  });

  const uuid = "12345678-1234-5678-1234-567812345678";
  it.each([
    [uuid.toUpperCase(), uuid],
    [`{${uuid}}`, uuid],
    [`urn:uuid:${uuid}`, uuid],
    [uuid.replaceAll("-", ""), uuid],
    [`{${uuid}`, ["uuid_parsing"]],
    [`URN:UUID:${uuid}`, ["uuid_parsing"]],
    ["12345678-1234-5678-1234567812345678", ["uuid_parsing"]],
    [`{${uuid.replaceAll("-", "")}}`, ["uuid_parsing"]],
    ["x", ["uuid_parsing"]],
  ])("for a UUID: %j is %j", (value, expected) => {
    expect(read(laxUuid(), value)).toEqual(expected);
  });
});

describe("fieldsOf", () => {
  it("takes what a value has of the members, in the form of answers, and nothing else", () => {
    const shape = { tx_hash: 0, p50_used: 0, at: 0, chainId: 0, next_at: 0, other: 0 };
    const at = new Date("2026-11-20T10:00:00.000Z");
    const value = { txHash: "0x1", p50Used: 7n, at, chainId: 1, nextAt: null, secret: "s" };
    expect(fieldsOf(shape, value)).toEqual({
      ...{ tx_hash: "0x1", p50_used: "7", at: "2026-11-20T10:00:00.000Z", chainId: 1, next_at: null },
    });
  });
});
