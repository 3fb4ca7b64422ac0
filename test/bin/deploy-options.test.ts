import { expect, test } from "vitest";
import { parseDeployOptions } from "../../bin/deploy-options.ts";

const A = "0x52908400098527886E0F7030069857D2E4169EE7";
const B = "0xde709f2102306220921060314715629080e2fb77";
const ORACLE = ["--registry", A, "--registry-block", "5", "--sanctions", B, "--sanctions-block", "6"];
const EVALUATOR = ["--out", "new.json", "--verdict-signer", A, "--escrow", `G3:${B}:77`];

test("an oracle is deployed where no escrow is named", () => {
  expect(parseDeployOptions([...ORACLE, "--out", "new.json", "--signer", A, "--signer", B])).toEqual({
    kind: "oracle",
    options: {
      registry: A,
      "registry-block": 5,
      sanctions: B,
      "sanctions-block": 6,
      out: "new.json",
      signer: [A, B],
    },
  });
});

test("a network takes the place of what the options would have to say", () => {
  expect(parseDeployOptions(["--network", "base", "--out", "new.json", "--sanctions", "none"])).toEqual({
    kind: "oracle",
    options: { network: "base", sanctions: "none", out: "new.json" },
  });
});

test("an evaluator is deployed for the escrows named, without hooks", () => {
  expect(parseDeployOptions([...EVALUATOR, "--escrow", `V3:${A}:0`])).toEqual({
    kind: "evaluator",
    options: {
      out: "new.json",
      owner: null,
      signers: [A],
      escrows: [
        { generation: "G3", address: B, startBlock: 77 },
        { generation: "V3", address: A, startBlock: 0 },
      ],
      gate: null,
    },
  });
});

test("accounts for bonds are deployed by their own option", () => {
  expect(parseDeployOptions(["--out", "new.json", "--bonds"])).toEqual({
    kind: "bonds",
    options: { out: "new.json", bonds: true },
  });
});

test("a gate is what all three of its options say", () => {
  const gate = ["--min-score", "60", "--max-age", "86400", "--unscored", "refuse"];
  expect(parseDeployOptions([...EVALUATOR, ...gate])).toMatchObject({
    options: { gate: { minScore: 60, maxAge: 86_400n, allowUnscored: false } },
  });
});

test.each<[string, string[]]>([
  ["--min-score, --max-age and --unscored come together", [...EVALUATOR, "--min-score", "60"]],
  ["expected GENERATION:ADDRESS:BLOCK", ["--out", "x", "--verdict-signer", A, "--escrow", `G2:${B}:1`]],
  ["has a wrong checksum", [...EVALUATOR, "--escrow", `G1:${A.replace("F", "f")}:1`]],
  ["--escrow is missing\nUsage", ["--out", "x", "--verdict-signer", A]],
  ["--verdict-signer is missing\nUsage", ["--out", "x", "--escrow", `G1:${B}:1`]],
  ["--out is missing\nUsage", ORACLE],
  ["--out is missing\nUsage", ["--bonds"]],
  ["Unrecognized key", [...EVALUATOR, "--bonds"]],
  ["--owner: expected an address\nUsage", [...ORACLE, "--out", "x", "--owner", "me"]],
  ["without --network, --registry and --sanctions", ["--out", "x"]],
  ["without --network, --registry and --sanctions", ["--out", "x", "--registry", A]],
  ["Unrecognized key", [...EVALUATOR, "--usdc", A]],
  ["Unrecognized key", [...ORACLE, "--out", "x", "--unscored", "allow"]],
])("refuses with the usage: %s", (message, args) => {
  expect(() => parseDeployOptions(args)).toThrow(message);
  expect(() => parseDeployOptions(args)).toThrow("Usage: ahs deploy");
});

test("the usage alone answers no options", () => {
  expect(() => parseDeployOptions([])).toThrow(/^Usage: ahs deploy/);
});
