import { getAddress } from "viem";
import { expect, test } from "vitest";
import { judgeBonds } from "../../../service/verification/checks.ts";

const B = getAddress("0xde709f2102306220921060314715629080e2fb77");
const A = getAddress("0x52908400098527886E0F7030069857D2E4169EE7");

test.each([
  [null, "skip"],
  [{ found: [A, B], expected: [A, B] }, "ok"],
  [{ found: [A, B], expected: [B, B] }, "fail"],
  [{ found: [A, B], expected: [A, A] }, "fail"],
  [{ found: [A, B], expected: [null, B] }, "fail"],
])("bonds of evaluator and USDC %o are %s", (bonds, level) => {
  expect(judgeBonds(bonds)).toMatchObject({ level });
});
