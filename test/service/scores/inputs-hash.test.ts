import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import { keccak256, stringToHex } from "viem";
import { describe, expect, test } from "vitest";
import { formatCall, parseCall } from "../../../service/model/features/call-line.ts";
import type { OwnCall } from "../../../service/model/features/types.ts";
import { AHS_2026_2 } from "../../../service/model/score/policy.ts";
import {
  counterpartyFile,
  inputsFile,
  isUntraced,
  policyFile,
  readCounterpartyFile,
  rowsDigest,
  sanctionsFile,
  tokenListFile,
} from "../../../service/scores/inputs-hash.ts";
import { diverseTrader } from "../model/features/archetypes.ts";
import {
  account,
  asOfTime,
  callsOf,
  DAY,
  fact,
  payment,
  rowsOf,
  START,
  TOKENS,
} from "../model/features/histories.ts";

const [CALL] = callsOf([
  { at: START, ok: false, to: account(2000), read: true, effect: "none", emitters: [], marketPrice: 7n },
]);
const [PAYMENT] = callsOf([payment(START, account(7), 2n ** 70n)]);
if (CALL === undefined || PAYMENT === undefined) throw new Error("one step makes one call");

const EMPTY = { effect: "none", emitters: [], moves: [] } as const;

describe("the line of a call", () => {
  test("holds its nineteen fields", () => {
    const unread: OwnCall = { ...CALL, receipt: null, fee: 5n, gasPrice: 3n, position: 2 };
    expect(formatCall(unread)).toBe(
      `0x${"0".repeat(63)}1 100 0 2 ${START} ${account(2000)} 0x12345678 0 0 100000 70000 5 3 - - - - - -`,
    );
    const receipt: OwnCall["receipt"] = {
      marketPrice: 7n,
      effect: "other",
      emitters: [account(1), account(2)],
      moves: [{ token: account(3), amount: -4n }],
    };
    const enriched = { ...unread, recipient: account(7), amount: 9n, receipt };
    expect(formatCall(enriched).split(" ").slice(13)).toEqual([
      ...[account(7), "9", "7", "other"],
      ...[`${account(1)},${account(2)}`, `${account(3)}:-4`],
    ]);
  });

  test.each([
    ["a reverted call", CALL],
    ["a payment of more than a double holds", PAYMENT],
    ["a creation", { ...CALL, to: null }],
    ["a plain transfer of more wei than a double holds", { ...CALL, selector: null, value: 2n ** 200n + 1n }],
    ["a call without receipt", { ...CALL, receipt: null }],
    ["a call of a block without a market", { ...PAYMENT, receipt: { ...EMPTY, marketPrice: null } }],
    ["an execution", { ...PAYMENT, position: 12, transactionIndex: 3 }],
    ["an execution without trace", { ...CALL, position: 12, selector: null, value: null }],
  ])("reads back %s", (_, call) => {
    expect(parseCall(formatCall(call))).toEqual(call);
  });

  test.each(["", "0x12", `${formatCall(CALL)} 1`])("refuses %o", (line) => {
    expect(() => parseCall(line)).toThrow("expected the 19 fields of a call");
  });
});

describe("the digest of rows", () => {
  const head = `31337 ${account(1)} 0 ${START} 1000000 1 index ${START}`;

  test("is SHA-256 of one line of coverage and one per call", () => {
    const text = `${head}\n${formatCall(CALL)}\n`;
    expect(rowsDigest(rowsOf([CALL]))).toBe(`0x${createHash("sha256").update(text).digest("hex")}`);
  });

  test("is the same for any order of the rows, over many pieces, and within one transaction", () => {
    const calls = callsOf(diverseTrader({ days: 90, seed: 1 }));
    expect(calls.length).toBeGreaterThan(512);
    const last = calls.at(-1);
    if (last === undefined) throw new Error("the trader made no call");
    const all = [...calls, { ...last, position: last.position + 1 }];
    const text = [head, ...all.map(formatCall)].map((line) => `${line}\n`).join("");
    expect(rowsDigest(rowsOf(all.toReversed()))).toBe(`0x${createHash("sha256").update(text).digest("hex")}`);
  });
});

describe("the counterparty file", () => {
  const facts = rowsOf([CALL], {
    counterparties: [
      fact(account(9), { ownerLink: "creator", mergedWith: account(3), flag: "mixer" }),
      fact(account(8), { hasCode: null, existedAt: null, fundedFromOutside: null, firstContactAt: null }),
    ],
    approvals: [
      { token: account(5), spender: account(6), kind: "amount", approvedAt: START },
      { token: account(4), spender: account(6), kind: "all", approvedAt: START },
    ],
    delegation: { to: account(2) },
    servicesUpAt: START,
  });

  test("is in its canonical form, named by its SHA-256, and the same for any order", () => {
    const file = counterpartyFile(facts);
    expect(canonicalize(JSON.parse(file.json))).toBe(file.json);
    expect(file.hash).toBe(`0x${createHash("sha256").update(file.json).digest("hex")}`);
    const turned = {
      ...facts,
      counterparties: facts.counterparties.toReversed(),
      approvals: facts.approvals?.toReversed() ?? null,
    };
    expect(counterpartyFile(turned)).toEqual(file);
  });

  test.each([
    ["everything", facts],
    ["nothing known", rowsOf([], { approvals: null, delegation: null, chainStartTimestamp: null })],
  ])("restores all of its facts: %s", (_, rows) => {
    const { wallet, counterparties, approvals, delegation, servicesUpAt, chainStartTimestamp } = rows;
    const { toBlock: _toBlock, ...coverage } = rows.coverage;
    expect(readCounterpartyFile(JSON.parse(counterpartyFile(rows).json))).toEqual({
      ...{ wallet, delegation, servicesUpAt, chainStartTimestamp, coverage },
      receiptsFrom: rows.calls[0]?.blockNumber ?? null,
      untraced: [],
      counterparties: counterparties.toSorted((a, b) => (a.address < b.address ? -1 : 1)),
      approvals: approvals?.toSorted((a, b) => (a.token < b.token ? -1 : 1)) ?? null,
    });
  });

  test("names the successful executions of which no trace was had", () => {
    const execution = (blockNumber: number, more: Partial<OwnCall>): OwnCall => ({
      ...CALL,
      ...{ blockNumber, transactionIndex: 3, position: 12, selector: null, value: null, ok: true },
      ...more,
    });
    const calls = [
      execution(1, {}),
      execution(2, {}),
      execution(3, { ok: false }),
      execution(4, { position: 14 }),
      execution(5, { value: 7n }),
      execution(6, {}),
      { ...CALL, blockNumber: 7 },
    ];
    const { untraced } = readCounterpartyFile(
      JSON.parse(counterpartyFile({ ...facts, calls: calls.toReversed() }).json),
    );
    expect(untraced).toEqual([
      [
        [1, 3, 12],
        [4, 3, 14],
      ],
      [
        [6, 3, 12],
        [6, 3, 12],
      ],
    ]);
    expect(calls.map((call) => isUntraced(untraced, call))).toEqual([
      ...[true, true, true, true],
      ...[false, true, false],
    ]);
  });

  test("does not change with later calls, with how far they are covered, or with the lists that other files hold", () => {
    const { coverage } = facts;
    const other = {
      ...facts,
      calls: [CALL, { ...CALL, blockNumber: CALL.blockNumber + 1 }],
      coverage: { ...coverage, toBlock: 2_000_000 },
      tokens: { ...TOKENS, tokens: [] },
    };
    expect(counterpartyFile(other)).toEqual(counterpartyFile(facts));
  });
});

describe("the inputs hash", () => {
  const rows = rowsOf([CALL]);
  const inputs = {
    policyHash: policyFile(AHS_2026_2).hash,
    tokenListHash: tokenListFile(TOKENS).hash,
    sanctionsHash: sanctionsFile([]).hash,
    counterpartyHash: counterpartyFile(rows).hash,
    rowsDigest: rowsDigest(rows),
    asOf: asOfTime(START + DAY),
  };

  test("is keccak256 of the canonical JSON of its inputs", () => {
    const json =
      `{"as_of_block_hash":"0x${"ab".repeat(32)}","counterparty_file":"${inputs.counterpartyHash}",` +
      `"policy":"${inputs.policyHash}","rows":"${inputs.rowsDigest}","sanctions_list":"${inputs.sanctionsHash}",` +
      `"token_list":"${inputs.tokenListHash}"}`;
    expect(canonicalize(JSON.parse(json))).toBe(json);
    expect(inputsFile(inputs)).toEqual({ hash: keccak256(stringToHex(json)), json });
  });

  test("changes with each input", () => {
    const others = [
      { ...inputs, policyHash: policyFile({ ...AHS_2026_2, version: "AHS-2026.x" }).hash },
      { ...inputs, tokenListHash: tokenListFile({ ...TOKENS, tokens: [] }).hash },
      { ...inputs, sanctionsHash: sanctionsFile([entry(1)]).hash },
      { ...inputs, counterpartyHash: counterpartyFile({ ...rows, counterparties: [] }).hash },
      { ...inputs, rowsDigest: rowsDigest(rowsOf([{ ...CALL, ok: true }])) },
      { ...inputs, asOf: { ...inputs.asOf, blockHash: `0x${"cd".repeat(32)}` as const } },
    ];
    expect(new Set([inputs, ...others].map((each) => inputsFile(each).hash)).size).toBe(7);
  });
});

test("the sanctions file does not depend on the order of its entries, two of one address included", () => {
  const other = { ...entry(1), source: "ofac-sdn" } as const;
  expect(sanctionsFile([entry(2), entry(1), other])).toEqual(sanctionsFile([other, entry(1), entry(2)]));
});

function entry(number: number) {
  return {
    address: account(number),
    source: "chainalysis-oracle",
    reference: `0x${"11".repeat(32)}`,
    detected_at: "2026-01-01T00:00:00.000Z",
  } as const;
}
