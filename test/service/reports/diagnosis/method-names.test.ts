import { toFunctionSelector } from "viem";
import { expect, test } from "vitest";
import { METHOD_NAMES, methodName } from "../../../../service/reports/diagnosis/method-names.ts";

test.each([...METHOD_NAMES])("%s is the selector of %s", (selector, name) => {
  expect(toFunctionSelector(`function ${name}`)).toBe(selector);
});

test("a plain transfer and an unheard-of selector have no name", () => {
  expect([methodName(null), methodName("0x00000000")]).toEqual([null, null]);
});
