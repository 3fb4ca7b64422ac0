import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { APPEAL_PERCENT, appealUnits } from "../../service/verification/escrow/appeal-price.ts";
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

it("docs/panel.md states the thresholds that decide", () => {
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

const STAKES_USD = [1, 10, 100, 1_000, 10_000];
/** Name, upper coverage, lower share right where decided, and the bounds of false ALLOW, of each measured order. */
const MEASURED =
  /^\| ([^|]+) \| [\d.]+ \([\d.]+–([\d.]+)\) \| [\d.]+ \(([\d.]+)–[\d.]+\) \| [\d.]+ \(([\d.]+)–([\d.]+)\) \|/gm;

/** Expected gain in US dollars of an appeal of a right decision, by the chance that the second panel wrongly decides the opposite. */
function gainUsd(chance: number, stakeUsd: number): number {
  const units = appealUnits(BigInt(stakeUsd * 1_000_000));
  if (units === null) throw new Error("expected an amount that has a price");
  const priceUsd = units / 1_000;
  return chance * stakeUsd - (1 - chance) * priceUsd;
}

it("docs/panel.md shows for every measured coverage and any amount that no side gains by appealing a right decision", () => {
  const rows = [...page.matchAll(MEASURED)].flatMap(([, order, ...figures]) => {
    const [coverage = 1, right = 0, leastFalse = 0, mostFalse = 1] = figures.map(Number);
    const chances = [
      ["provider", mostFalse],
      ["client", 2 * coverage * (1 - right) - leastFalse],
    ] as const;
    return chances.map(([appellant, chance]) => {
      const gains = STAKES_USD.map((stake) => gainUsd(chance, stake));
      expect(Math.max(...gains)).toBeLessThan(0);
      const shown = gains.map(
        (gain) =>
          `−${Math.abs(gain).toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`,
      );
      return `| ${order} | ${appellant} | ${chance.toFixed(3)} | ${shown.join(" | ")} |`;
    });
  });
  expect(rows).toHaveLength(10);
  expect(page).toContain(rows.join("\n"));
  expect(page).toContain("a quarter of what the decision moves, at least 0.50 USD");
  expect([APPEAL_PERCENT, appealUnits(0n)]).toEqual([25n, 500]);
});

it("an appeal of a right decision loses at every amount while the second panel is wrong in less than a fifth", () => {
  for (let stakeUsd = 1; stakeUsd < 8e6; stakeUsd = Math.ceil(stakeUsd * 1.3))
    expect(gainUsd(0.199, stakeUsd)).toBeLessThan(0);
  expect(gainUsd(0.21, 100)).toBeGreaterThan(0);
});
