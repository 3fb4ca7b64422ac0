import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import {
  PANEL_VERSION,
  REJECTION,
  THRESHOLD_HUNDREDTHS,
  VOTING,
} from "../../service/verification/panel/policy.ts";

const page = readFileSync(new URL("../../docs/panel.md", import.meta.url), "utf8");
const hundredths = (value: number) => (value / 100).toFixed(2);

it("docs/panel.md tells the thresholds that decide", () => {
  for (const [domain, threshold] of Object.entries(THRESHOLD_HUNDREDTHS)) {
    const other = domain === "default" ? " and every other name" : "";
    const [reject, unknown] = [threshold + REJECTION.margin, threshold + REJECTION.marginWithoutScore];
    expect(page).toContain(
      `| \`${domain}\`${other} | ${hundredths(threshold)} | ${hundredths(reject)} | ${hundredths(unknown)} |`,
    );
  }
  expect(page).toContain(`Version \`${PANEL_VERSION}\``);
  expect(page).toContain(
    `for ALLOW from a score of ${VOTING.allowFrom} on, for REJECT below ${VOTING.rejectBelow}`,
  );
});
