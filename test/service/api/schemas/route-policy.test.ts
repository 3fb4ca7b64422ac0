import { describe, expect, it } from "vitest";
import { WALLET, WALLET_EIP55 } from "../fake-ports.ts";
import { BY_KEY, policyApp } from "../routes/policy-app.ts";

const LEAST = { instant_grades: ["A", "B"], escrow_grades: ["C"] };
const wallets = (count: number) =>
  Array.from({ length: count }, (_, index) => `0x${String(index).padStart(40, "0")}`);
const GRADES = "'A', 'B', 'C', 'D', 'E' or 'F'";
const LEVELS = "'HIGH', 'MEDIUM', 'LOW' or 'INSUFFICIENT'";
const ACTIONS = "'instant_settle', 'escrow' or 'reject'";
const literal = (expected: string, loc: readonly unknown[], input: unknown) => ({
  type: "literal_error",
  loc: ["body", ...loc],
  msg: `Input should be ${expected}`,
  input,
  ctx: { expected },
});
const valueError = (error: string, loc: readonly unknown[], input: unknown) => ({
  type: "value_error",
  loc: ["body", ...loc],
  msg: `Value error, ${error}`,
  input,
  ctx: { error },
});
const missing = (name: string, input: unknown) => ({
  type: "missing",
  loc: ["body", name],
  msg: "Field required",
  input,
});
const ADDRESS_PATTERN = "^0x[0-9a-fA-F]{40}$";

describe("a policy that does not fit is 422", () => {
  it.each<readonly [string, unknown, readonly unknown[]]>([
    ["nothing", {}, [missing("instant_grades", {}), missing("escrow_grades", {})]],
    [
      "a list",
      [],
      [
        {
          type: "model_attributes_type",
          loc: ["body"],
          msg: "Input should be a valid dictionary or object to extract fields from",
          input: [],
        },
      ],
    ],
    [
      "an unknown grade",
      { ...LEAST, instant_grades: ["A", "G"] },
      [literal(GRADES, ["instant_grades", 1], "G")],
    ],
    [
      "a grade in small letters",
      { ...LEAST, escrow_grades: ["c"] },
      [literal(GRADES, ["escrow_grades", 0], "c")],
    ],
    [
      "grades that are no list",
      { ...LEAST, instant_grades: "A" },
      [
        {
          type: "list_type",
          loc: ["body", "instant_grades"],
          msg: "Input should be a valid list",
          input: "A",
        },
      ],
    ],
    [
      "a grade in both sets",
      { instant_grades: ["A", "B"], escrow_grades: ["B"] },
      [
        valueError(
          "grade B stands in instant_grades already; a grade stands once",
          ["escrow_grades", 0],
          "B",
        ),
      ],
    ],
    [
      "a grade twice in one set",
      { instant_grades: ["A", "A"], escrow_grades: [] },
      [
        valueError(
          "grade A stands in instant_grades already; a grade stands once",
          ["instant_grades", 1],
          "A",
        ),
      ],
    ],
    [
      "reject_grades that leave one out",
      { ...LEAST, reject_grades: ["D", "E"] },
      [
        valueError(
          "reject_grades has to be D, E, F, the grades of neither instant_grades nor escrow_grades, or absent",
          ["reject_grades"],
          ["D", "E"],
        ),
      ],
    ],
    [
      "reject_grades that name a settled one",
      { ...LEAST, reject_grades: ["B", "D", "E", "F"] },
      [
        valueError(
          "reject_grades has to be D, E, F, the grades of neither instant_grades nor escrow_grades, or absent",
          ["reject_grades"],
          ["B", "D", "E", "F"],
        ),
      ],
    ],
    [
      "reject_grades where nothing is left",
      { instant_grades: ["A", "B", "C", "D", "E", "F"], escrow_grades: [], reject_grades: ["F"] },
      [
        valueError(
          "reject_grades has to be empty, the grades of neither instant_grades nor escrow_grades, or absent",
          ["reject_grades"],
          ["F"],
        ),
      ],
    ],
    [
      "escrow_disabled as a text",
      { ...LEAST, escrow_disabled: "perhaps" },
      [
        {
          type: "bool_parsing",
          loc: ["body", "escrow_disabled"],
          msg: "Input should be a valid boolean, unable to interpret input",
          input: "perhaps",
        },
      ],
    ],
    [
      "an address that is none",
      { ...LEAST, allowlist: ["0x1"] },
      [
        {
          type: "string_pattern_mismatch",
          loc: ["body", "allowlist", 0],
          msg: `String should match pattern '${ADDRESS_PATTERN}'`,
          input: "0x1",
          ctx: { pattern: ADDRESS_PATTERN },
        },
      ],
    ],
    [
      "an address of a broken checksum",
      { ...LEAST, allowlist: [WALLET_EIP55.replace("D", "d")] },
      [
        valueError(
          `mixed-case address fails its EIP-55 checksum: ${WALLET_EIP55.replace("D", "d")}`,
          ["allowlist", 0],
          WALLET_EIP55.replace("D", "d"),
        ),
      ],
    ],
    [
      "a member of the allowlist that is no text",
      { ...LEAST, allowlist: [WALLET, null] },
      [
        {
          type: "string_type",
          loc: ["body", "allowlist", 1],
          msg: "Input should be a valid string",
          input: null,
        },
      ],
    ],
    [
      "1,001 allowlisted wallets",
      { ...LEAST, allowlist: wallets(1_001) },
      [
        {
          type: "too_long",
          loc: ["body", "allowlist"],
          msg: "List should have at most 1000 items after validation, not 1001",
          input: null,
          ctx: { field_type: "List", max_length: 1_000, actual_length: 1_001 },
        },
      ],
    ],
    [
      "null for the allowlist",
      { ...LEAST, allowlist: null },
      [{ type: "list_type", loc: ["body", "allowlist"], msg: "Input should be a valid list", input: null }],
    ],
    [
      "overrides of an unknown grade",
      { ...LEAST, confidence_overrides: { G: { HIGH: "escrow" } } },
      [literal(GRADES, ["confidence_overrides", "G", "[key]"], "G")],
    ],
    [
      "overrides of an unknown level",
      { ...LEAST, confidence_overrides: { B: { high: "escrow" } } },
      [literal(LEVELS, ["confidence_overrides", "B", "high", "[key]"], "high")],
    ],
    [
      "an override to an unknown action",
      { ...LEAST, confidence_overrides: { B: { HIGH: "hold" } } },
      [literal(ACTIONS, ["confidence_overrides", "B", "HIGH"], "hold")],
    ],
    [
      "overrides that are no map",
      { ...LEAST, confidence_overrides: [] },
      [
        {
          type: "dict_type",
          loc: ["body", "confidence_overrides"],
          msg: "Input should be a valid dictionary",
          input: [],
        },
      ],
    ],
    [
      "an unknown insufficient_action",
      { ...LEAST, insufficient_action: "approve" },
      [literal(ACTIONS, ["insufficient_action"], "approve")],
    ],
    [
      "several faults at once, in the order of members",
      { escrow_grades: ["Z"], insufficient_action: 1 },
      [
        missing("instant_grades", { escrow_grades: ["Z"], insufficient_action: 1 }),
        literal(GRADES, ["escrow_grades", 0], "Z"),
        literal(ACTIONS, ["insufficient_action"], 1),
      ],
    ],
  ])("%s", async (_name, policy, faults) => {
    const { put, get } = policyApp();
    const response = await put(policy);
    expect([response.status, await response.json()]).toEqual([422, { detail: faults }]);
    expect(await (await get(BY_KEY)).json()).toMatchObject({ updated_at: null });
  });
});
