import { describe, expect, it } from "vitest";
import { bodyOf, WALLET, WALLET_EIP55 } from "../fake-ports.ts";
import { BY_KEY, policyApp } from "../routes/policy-app.ts";

const LEAST = { instant_grades: ["A", "B"], escrow_grades: ["C"] };
const wallets = (count: number) =>
  Array.from({ length: count }, (_, index) => `0x${String(index).padStart(40, "0")}`);
const ADDRESS = WALLET_EIP55.replace("D", "d");
const MISFIT = "the grades of neither instant_grades nor escrow_grades, or absent";

/** Faults by type and place; of faults of our own also the message. */
type Fault = readonly [type: string, loc: readonly unknown[], error?: string];

describe("a policy that does not fit is 422", () => {
  it.each<readonly [string, unknown, readonly Fault[]]>([
    ["a list", [], [["model_attributes_type", []]]],
    [
      "an unknown grade",
      { ...LEAST, instant_grades: ["A", "G"] },
      [["literal_error", ["instant_grades", 1]]],
    ],
    ["a small letter", { ...LEAST, escrow_grades: ["c"] }, [["literal_error", ["escrow_grades", 0]]]],
    ["grades that are no list", { ...LEAST, instant_grades: "A" }, [["list_type", ["instant_grades"]]]],
    [
      "a grade in both sets",
      { instant_grades: ["A", "B"], escrow_grades: ["B"] },
      [
        [
          "value_error",
          ["escrow_grades", 0],
          "grade B is in instant_grades already; each grade may be in one set",
        ],
      ],
    ],
    [
      "a grade twice in one set",
      { instant_grades: ["A", "A"], escrow_grades: [] },
      [
        [
          "value_error",
          ["instant_grades", 1],
          "grade A is in instant_grades already; each grade may be in one set",
        ],
      ],
    ],
    [
      "reject_grades that leave one out",
      { ...LEAST, reject_grades: ["D", "E"] },
      [["value_error", ["reject_grades"], `reject_grades has to be D, E, F, ${MISFIT}`]],
    ],
    [
      "reject_grades that name a settled one",
      { ...LEAST, reject_grades: ["B", "D", "E", "F"] },
      [["value_error", ["reject_grades"], `reject_grades has to be D, E, F, ${MISFIT}`]],
    ],
    [
      "reject_grades where nothing is left",
      { instant_grades: ["A", "B", "C", "D", "E", "F"], escrow_grades: [], reject_grades: ["F"] },
      [["value_error", ["reject_grades"], `reject_grades has to be empty, ${MISFIT}`]],
    ],
    [
      "escrow_disabled as a text",
      { ...LEAST, escrow_disabled: "perhaps" },
      [["bool_parsing", ["escrow_disabled"]]],
    ],
    [
      "an amount below 0",
      { ...LEAST, max_instant_usd: -1 },
      [["string_pattern_mismatch", ["max_instant_usd"]]],
    ],
    [
      "an amount of seven decimals",
      { ...LEAST, max_instant_usd: "1.0000001" },
      [["string_pattern_mismatch", ["max_instant_usd"]]],
    ],
    [
      "an amount above a billion",
      { ...LEAST, max_instant_usd: "1000000000.000001" },
      [
        [
          "value_error",
          ["max_instant_usd"],
          "expected a decimal from 0 to 1000000000, got 1000000000.000001",
        ],
      ],
    ],
    [
      "a multiple above 10",
      { ...LEAST, safe_amount_multiple: 10.5 },
      [["value_error", ["safe_amount_multiple"], "expected a decimal from 0 to 10, got 10.5"]],
    ],
    [
      "a multiple that is true",
      { ...LEAST, safe_amount_multiple: true },
      [["string_type", ["safe_amount_multiple"]]],
    ],
    [
      "a lowest confidence of none",
      { ...LEAST, min_confidence_for_instant: "INSUFFICIENT" },
      [["literal_error", ["min_confidence_for_instant"]]],
    ],
    ["a short address", { ...LEAST, allowlist: ["0x1"] }, [["string_pattern_mismatch", ["allowlist", 0]]]],
    [
      "an address of a broken checksum",
      { ...LEAST, allowlist: [ADDRESS] },
      [
        [
          "value_error",
          ["allowlist", 0],
          `mixed-case address fails its EIP-55 checksum: got ${ADDRESS}, expected ${WALLET_EIP55}`,
        ],
      ],
    ],
    [
      "an address that is no text",
      { ...LEAST, allowlist: [WALLET, null] },
      [["string_type", ["allowlist", 1]]],
    ],
    ["1,001 allowlisted wallets", { ...LEAST, allowlist: wallets(1_001) }, [["too_long", ["allowlist"]]]],
    ["null for the allowlist", { ...LEAST, allowlist: null }, [["list_type", ["allowlist"]]]],
    [
      "overrides of an unknown grade",
      { ...LEAST, confidence_overrides: { G: { HIGH: "escrow" } } },
      [["literal_error", ["confidence_overrides", "G", "[key]"]]],
    ],
    [
      "overrides of an unknown level",
      { ...LEAST, confidence_overrides: { B: { high: "escrow" } } },
      [["literal_error", ["confidence_overrides", "B", "high", "[key]"]]],
    ],
    [
      "an override to an unknown action",
      { ...LEAST, confidence_overrides: { B: { HIGH: "hold" } } },
      [["literal_error", ["confidence_overrides", "B", "HIGH"]]],
    ],
    [
      "an override for wallets that have no grade",
      { ...LEAST, confidence_overrides: { C: { INSUFFICIENT: "escrow" } } },
      [["value_error", ["confidence_overrides", "C", "INSUFFICIENT"]]],
    ],
    [
      "overrides that are no map",
      { ...LEAST, confidence_overrides: [] },
      [["dict_type", ["confidence_overrides"]]],
    ],
    [
      "an unknown threat_action",
      { ...LEAST, threat_action: "instant_settle" },
      [["literal_error", ["threat_action"]]],
    ],
    [
      "an unknown insufficient_action",
      { ...LEAST, insufficient_action: "approve" },
      [["literal_error", ["insufficient_action"]]],
    ],
    [
      "several faults at once, in the order of members",
      { escrow_grades: ["Z"], insufficient_action: 1 },
      [
        ["literal_error", ["escrow_grades", 0]],
        ["literal_error", ["insufficient_action"]],
      ],
    ],
  ])("%s", async (_name, policy, faults) => {
    const { put, get } = policyApp();
    const response = await put(policy);
    const expected = faults.map(([type, loc, error]) => ({
      ...{ type, loc: ["body", ...loc] },
      ...(error === undefined ? {} : { msg: `Value error, ${error}`, ctx: { error } }),
    }));
    const { detail } = await bodyOf<{ detail: readonly object[] }>(response);
    expect([response.status, detail]).toMatchObject([422, expected]);
    expect(await (await get(BY_KEY)).json()).toMatchObject({ updated_at: null });
  });
});
