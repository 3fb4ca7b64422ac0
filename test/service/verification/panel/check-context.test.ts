import { expect, it } from "vitest";
import { describeSpecOverflow } from "../../../../service/verification/panel/check-context.ts";
import { SETTINGS } from "./a-panel.ts";

const spec = { specText: "Count to 3.", acceptanceCriteria: null, domain: "default" };

it("the longest specification in English leaves an output its room", () => {
  expect(describeSpecOverflow(spec, SETTINGS)).toBeNull();
  expect(describeSpecOverflow({ ...spec, specText: "translate it ".repeat(15_300) }, SETTINGS)).toBeNull();
});

it.each([
  ["a specification of 70,000 Chinese characters", { specText: "\u4e2d".repeat(70_000) }],
  ["criteria of 70,000 Chinese characters", { acceptanceCriteria: "\u4e2d".repeat(70_000) }],
])("%s leaves none, and the sizes say so", (_, changes) => {
  expect(describeSpecOverflow({ ...spec, ...changes }, SETTINGS)).toMatch(
    /^specification and criteria of 700\d\d characters are about 1050\d\d tokens, and may take \d+ of the 128000 /,
  );
});
