import { expect, test } from "vitest";
import { methodName } from "../../../../service/reports/labels/method-names.ts";

test.for([
  [null, null],
  ["0xffffffff", null],
  ["0xa9059cbb", "transfer(address,uint256)"],
  ["0xf2c298be", "register(string)"],
  ["0x3593564c", "execute(bytes,bytes[],uint256)"],
] as const)("names the method of selector %s", ([selector, name]) => {
  expect(methodName(selector)).toEqual(name);
});
