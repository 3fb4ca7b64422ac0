import { createHash } from "node:crypto";
import { keccak256, stringToHex } from "viem";
import { describe, expect, test } from "vitest";
import { formatCall, parseCall } from "../../../service/features/call-line.ts";
import { inputsFile, policyFile, rowsDigest, sanctionsFile } from "../../../service/features/inputs-hash.ts";
import { AHS_2026_0 } from "../../../service/score/policy.ts";
import { diverseTrader } from "./archetypes.ts";
import { account, asOfTime, callsOf, DAY, rowsOf, START } from "./histories.ts";

const [CALL] = callsOf([{ at: START, ok: false, to: account(2000) }]);
if (CALL === undefined) throw new Error("one step makes one call");

describe("the line of a call", () => {
  test("holds its eleven fields", () => {
    expect(formatCall(CALL)).toBe(
      `0x${"0".repeat(63)}1 100 0 ${START} ${account(2000)} 0x12345678 0 0 100000 70000 70000000000000`,
    );
  });

  test.each([
    ["a reverted call", CALL],
    ["a creation", { ...CALL, to: null }],
    ["a plain transfer of more wei than a double holds", { ...CALL, selector: null, value: 2n ** 200n + 1n }],
  ])("reads back %s", (_, call) => {
    expect(parseCall(formatCall(call))).toEqual(call);
  });

  test.each(["", "0x12", `${formatCall(CALL)} 1`])("refuses %o", (line) => {
    expect(() => parseCall(line)).toThrow("expected the eleven fields of a call");
  });
});

describe("the digest of rows", () => {
  test("is SHA-256 of one line of coverage and one per call", () => {
    const text = `31337 ${account(1)} 0 ${START} 1 index ${START}\n${formatCall(CALL)}\n`;
    expect(rowsDigest(rowsOf([CALL]))).toBe(`0x${createHash("sha256").update(text).digest("hex")}`);
  });

  test("is the same for any order of the rows, and over many pieces", () => {
    const calls = callsOf(diverseTrader({ days: 90, seed: 1 }));
    expect(calls.length).toBeGreaterThan(512);
    const lines = [`31337 ${account(1)} 0 ${START} 1 index ${START}`, ...calls.map(formatCall)];
    const text = lines.map((line) => `${line}\n`).join("");
    expect(rowsDigest(rowsOf(calls.toReversed()))).toBe(
      `0x${createHash("sha256").update(text).digest("hex")}`,
    );
  });
});

describe("the inputs hash", () => {
  const inputs = {
    policyHash: policyFile(AHS_2026_0).hash,
    sanctionsHash: sanctionsFile([]).hash,
    rowsDigest: rowsDigest(rowsOf([CALL])),
    asOf: asOfTime(START + DAY),
  };

  test("is keccak256 of the canonical JSON of its inputs, null where this model reads none", () => {
    const json =
      `{"as_of_block_hash":"0x${"ab".repeat(32)}","counterparty_file":null,"policy":"${inputs.policyHash}",` +
      `"rows":"${inputs.rowsDigest}","sanctions_list":"${inputs.sanctionsHash}","token_list":null}`;
    expect(inputsFile(inputs)).toEqual({ hash: keccak256(stringToHex(json)), content: JSON.parse(json) });
  });

  test("changes with each input", () => {
    const others = [
      { ...inputs, policyHash: policyFile({ ...AHS_2026_0, version: "AHS-2026.x" }).hash },
      { ...inputs, sanctionsHash: sanctionsFile([entry(1)]).hash },
      { ...inputs, rowsDigest: rowsDigest(rowsOf([{ ...CALL, ok: true }])) },
      { ...inputs, asOf: { ...inputs.asOf, blockHash: `0x${"cd".repeat(32)}` as const } },
    ];
    expect(new Set([inputs, ...others].map((each) => inputsFile(each).hash)).size).toBe(5);
  });
});

test("the sanctions file does not depend on the order of its entries", () => {
  expect(sanctionsFile([entry(2), entry(1)])).toEqual(sanctionsFile([entry(1), entry(2)]));
});

function entry(number: number) {
  return {
    address: account(number),
    source: "chainalysis-oracle",
    reference: `0x${"11".repeat(32)}`,
    detected_at: "2026-01-01T00:00:00.000Z",
  } as const;
}
