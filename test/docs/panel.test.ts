import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { effectiveVotes } from "../../service/verification/panel/effective-votes.ts";
import {
  CORRELATION,
  MONEY,
  MONEY_LIMITS,
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
  const usd = (microUsd: bigint) => `${(microUsd / 1_000_000n).toLocaleString("en")} USD`;
  expect(page).toContain(`pays more than ${usd(MONEY_LIMITS.unanimousAboveMicroUsd)}`);
  expect(page).toContain(`pays more than ${usd(MONEY_LIMITS.secondModelAboveMicroUsd)}`);
  expect(page).toContain(`fewer than ${hundredths(MONEY.effectiveVotesHundredths)} effective ones`);
  const { sameModel, otherModel } = CORRELATION;
  expect(page).toContain(`(1 + 3 × ${sameModel.toFixed(2)}) = ${effectiveVotes([4]).toFixed(2)}`);
  expect(page).toContain(`by ${otherModel.toFixed(2)}, are worth ${effectiveVotes([3, 1]).toFixed(2)}`);
});
