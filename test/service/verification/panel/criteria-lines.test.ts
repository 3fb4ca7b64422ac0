import { expect, it } from "vitest";
import { splitCriteria } from "../../../../service/verification/panel/criteria.ts";

it.each([
  ["lines", "a:\n".repeat(66_000)],
  ["bullets", "- \n".repeat(66_000)],
  ["indented bullets", `- a\n${"      - b\n".repeat(20_000)}`],
  ["brackets", `${"[".repeat(100_000)}${"]".repeat(100_000)}`],
  ["quotes", `[${'"a",'.repeat(50_000)}"a"]`],
  ["blanks", `${" ".repeat(199_999)}a`],
  ["fences", "```\n".repeat(50_000)],
  ["dashes", "-\n".repeat(100_000)],
  ["bars", "|".repeat(200_000)],
  ["steps", `Given a\n${"When a\n".repeat(28_000)}`],
  ["outcomes", `Given a\n${"Then a\n".repeat(28_000)}`],
  ["letters", "a) b\n".repeat(40_000)],
])("splits 200,000 characters of %s within 3 seconds", (_, given) => {
  const start = performance.now();
  splitCriteria(given);
  // What takes time squared would take minutes.
  expect(performance.now() - start).toBeLessThan(3_000);
});
