import { getAddress } from "viem";
import { expect, test } from "vitest";
import { judgeBalance, judgeRole } from "../../../service/sender/checks.ts";

const B = getAddress("0xde709f2102306220921060314715629080e2fb77");
const A = getAddress("0x52908400098527886E0F7030069857D2E4169EE7");

test.each([
  [null, [A], "skip"],
  [A, [B, A], "ok"],
  [A, [B], "fail"],
  [A, [], "fail"],
])("a key of %s under %o is %s", (configured, onChain, level) => {
  expect(judgeRole({ role: "signer", configured, onChain })).toMatchObject({ level });
});

test.each([
  [99n, "fail"],
  [100n, "warn"],
  [999n, "warn"],
  [1_000n, "ok"],
])("a balance of %i wei is %s", (wei, level) => {
  const purse = { role: "publisher", address: A, gasPrice: 10n, gasOnce: 10n, gasDaily: 100n };
  expect(judgeBalance({ ...purse, wei })).toMatchObject({ level });
});
