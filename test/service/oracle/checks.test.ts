import { getAddress } from "viem";
import { expect, test } from "vitest";
import { judgeFeedback, judgeRequestFee } from "../../../service/oracle/checks.ts";

const B = getAddress("0xde709f2102306220921060314715629080e2fb77");
const A = getAddress("0x52908400098527886E0F7030069857D2E4169EE7");

test.each([
  [0n, "warn", "a request to follow a wallet costs 0 ETH"],
  [1n, "ok", "a request to follow a wallet costs 0.000000000000000001 ETH"],
  [7n, "ok", "a request to follow a wallet costs 0.000000000000000007 ETH"],
  [8n, "warn", "a request to follow a wallet costs 0.000000000000000008 ETH"],
])("a request fee of %i wei is %s", (feeWei, level, detail) => {
  expect(judgeRequestFee({ feeWei, maxFeeWei: 7n })).toMatchObject({ level, detail });
});

test.each([
  [null, true, "skip"],
  [{ agentsOf: A, expected: A }, true, "ok"],
  [{ agentsOf: A, expected: A }, false, "warn"],
  [{ agentsOf: A, expected: B }, true, "fail"],
])("feedback about the agents of %o, with a public address %s: %s", (registry, hasPublicUrl, level) => {
  expect(judgeFeedback(registry, hasPublicUrl)).toMatchObject({ level });
});
