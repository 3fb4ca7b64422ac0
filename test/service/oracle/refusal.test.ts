import { encodeErrorResult } from "viem";
import { expect, test } from "vitest";
import { agentHealthOracleAbi as abi } from "../../../service/chain/abi/agent-health-oracle.ts";
import { readRefusal } from "../../../service/oracle/score-fate.ts";

const kind = "reverted_in_simulation";
const wallet = "0x00000000000000000000000000000000000a9e27";

test.each([
  {
    name: "a paused oracle",
    revertData: encodeErrorResult({ abi, errorName: "WritesPaused" }),
    expected: { cause: "WritesPaused", malformedWallet: null },
  },
  {
    name: "another publisher",
    revertData: encodeErrorResult({ abi, errorName: "NotPublisher", args: [wallet] }),
    expected: { cause: "NotPublisher", malformedWallet: null },
  },
  {
    name: "an as-of ahead of the chain",
    revertData: encodeErrorResult({ abi, errorName: "InvalidAsOf", args: [9n, 8n] }),
    expected: { cause: "InvalidAsOf", malformedWallet: null },
  },
  {
    name: "a malformed word",
    revertData: encodeErrorResult({
      abi,
      errorName: "MalformedRecord",
      args: [3n, `${wallet}650000000000000000000000`, 2],
    }),
    expected: { cause: "MalformedRecord", malformedWallet: wallet },
  },
  { name: "an unknown revert", revertData: "0x2a", expected: { cause: kind, malformedWallet: null } },
  { name: "an empty revert", revertData: "0x", expected: { cause: kind, malformedWallet: null } },
  { name: "no revert at all", revertData: null, expected: { cause: kind, malformedWallet: null } },
] as const)("$name", ({ revertData, expected }) => {
  expect(readRefusal({ kind, revertData })).toEqual(expected);
});
