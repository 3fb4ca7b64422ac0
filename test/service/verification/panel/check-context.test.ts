import { expect, it } from "vitest";
import { describeSpecOverflow } from "../../../../service/verification/panel/check-context.ts";
import { loadPrompts } from "../../../../service/verification/panel/prompts.ts";
import { ROLE_NAMES, type RoleName } from "../../../../service/verification/panel/types.ts";

// Every role is named.
const models = Object.fromEntries(ROLE_NAMES.map((role) => [role, "m"])) as Record<RoleName, string>;
const settings = {
  models,
  contextTokens: 128_000,
  answerTokens: 4_096,
  prices: null,
  prompts: loadPrompts(),
};
const spec = { specText: "Count to 3.", acceptanceCriteria: null, domain: "default" };

it("the longest specification in English leaves an output its room", () => {
  expect(describeSpecOverflow(spec, settings)).toBeNull();
  expect(describeSpecOverflow({ ...spec, specText: "translate it ".repeat(15_300) }, settings)).toBeNull();
});

it.each([
  ["a specification of 70,000 Chinese characters", { specText: "\u4e2d".repeat(70_000) }],
  ["criteria of 70,000 Chinese characters", { acceptanceCriteria: "\u4e2d".repeat(70_000) }],
])("%s leaves none, which is told with the sizes", (_, changes) => {
  expect(describeSpecOverflow({ ...spec, ...changes }, settings)).toMatch(
    /^specification and criteria of 700\d\d characters are about 1050\d\d tokens, and may take \d+ of the 128000 /,
  );
});
