import { describe, expect, it } from "vitest";
import type { PanelRunSettings } from "../../../../service/verification/panel/ask-role.ts";
import {
  describeEvidenceOverflow,
  describeSpecOverflow,
  largestRun,
  measureOutput,
  tokensOfCase,
} from "../../../../service/verification/panel/check-context.ts";
import { mostTextTokens, VERDICT_UNITS } from "../../../../service/verification/panel/run-cost.ts";
import { ROLE_NAMES, type RoleName } from "../../../../service/verification/panel/types.ts";
import { SETTINGS } from "./a-panel.ts";

const spec = { specText: "Count to 3.", acceptanceCriteria: null, domain: "default" };
const words = (characters: number) => "translate it ".repeat(Math.ceil(characters / 13)).slice(0, characters);

const pricedAt = (promptUsd: number | null, answerUsd = 15): PanelRunSettings => {
  const price = promptUsd === null ? null : { promptUsd, answerUsd, cachedUsd: promptUsd };
  const prices = Object.fromEntries(ROLE_NAMES.map((role) => [role, price])) as Record<
    RoleName,
    typeof price
  >;
  return { ...SETTINGS, prices };
};
const DEFAULT = pricedAt(null);

describe("a specification", () => {
  it("in English of 44,000 characters leaves an output its room", () => {
    expect(describeSpecOverflow(spec, DEFAULT)).toBeNull();
    expect(describeSpecOverflow({ ...spec, specText: words(44_000) }, DEFAULT)).toBeNull();
  });

  it.each([
    ["of 46,000 characters", { specText: words(46_000) }, "46000", "1\\d{4}"],
    ["of 70,000 Chinese characters", { specText: "中".repeat(70_000) }, "70000", "105000"],
    [
      "with criteria of 70,000 Chinese characters",
      { acceptanceCriteria: "中".repeat(70_000) },
      "70011",
      "1050\\d\\d",
    ],
  ])("%s leaves none, and the sizes say so", (_, changes, characters, tokens) => {
    expect(describeSpecOverflow({ ...spec, ...changes }, DEFAULT)).toMatch(
      new RegExp(
        `^specification and criteria of ${characters} characters are about ${tokens} tokens, and may take 14\\d{3} `,
      ),
    );
  });
});

describe("an output with its specification", () => {
  const measure = (characters: number, settings = DEFAULT) =>
    measureOutput({ ...spec, outputText: words(characters) }, settings);

  it("is taken up to some 59,000 characters of English without configured prices", () => {
    expect(measure(58_000).overflow).toBeNull();
    expect(measure(60_000).overflow).toMatch(
      /^specification, criteria and output of 60011 characters are about 2\d{4} tokens, and a verdict for 0\.50 USD takes 19\d{3} \(some 59\d{3} characters of English\)$/,
    );
  });

  it("is bounded by what the configured prices leave, and by the models where tokens are cheap", () => {
    expect(measure(20_000, pricedAt(6)).overflow).toBeNull();
    expect(measure(30_000, pricedAt(6)).overflow).toContain("a verdict for 0.50 USD takes 7");
    expect(measure(200_000, pricedAt(0.2, 0.8)).overflow).toBeNull();
    expect(measure(200_000, { ...pricedAt(0.2, 0.8), contextTokens: 40_000 }).overflow).not.toBeNull();
    expect(measure(200_000, pricedAt(0, 0)).overflow).toBeNull();
  });

  it("of the largest size costs what a verdict is sold for, and no more", () => {
    for (const promptUsd of [0.5, 3, 6]) {
      const settings = { ...pricedAt(promptUsd, promptUsd), contextTokens: 10_000_000 };
      const usd = (largestRun(settings) * promptUsd) / 1_000_000;
      expect(usd).toBeLessThanOrEqual(VERDICT_UNITS / 1_000);
      expect(usd).toBeGreaterThan(0.99 * (VERDICT_UNITS / 1_000));
    }
    expect(mostTextTokens("default", pricedAt(100))).toBe(0);
  });
});

it("three texts of evidence make a run at most half as long again", () => {
  const sixth = words(9_800);
  expect(describeEvidenceOverflow(sixth, DEFAULT)).toBeNull();
  expect(describeEvidenceOverflow(words(10_000), DEFAULT)).toMatch(
    /^a text of 10000 characters is about 3\d{3} tokens, and evidence may take 32\d\d /,
  );
  const whole = { ...spec, outputText: words(58_000), evidenceTexts: [sixth, sixth, sixth] };
  expect(tokensOfCase(whole, DEFAULT)).toBeLessThan(1.5 * largestRun(DEFAULT));
});
