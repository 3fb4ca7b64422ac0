import { describe, expect, it } from "vitest";
import { requirePanel } from "../../../../service/verification/verdicts/token-budget.ts";

const NOW = new Date("2026-11-20T18:00:00.000Z");
const SIX_HOURS = String(6 * 3_600);

const budget = (used: number) => ({ tokensPerDay: 1_000, usedSince: async () => used });

describe("the panel's tokens of a day", () => {
  it.each([
    [749, false],
    [749, true],
    [750, true],
    [999, true],
  ])("with %i of 1,000 used take in an output (of a job: %s)", async (used, isOfJob) => {
    await expect(requirePanel(budget(used), { now: NOW, isOfJob })).resolves.toBeUndefined();
  });

  it.each([
    [750, false],
    [1_000, false],
    [1_000, true],
  ])("with %i of 1,000 used take none in until midnight (of a job: %s)", async (used, isOfJob) => {
    await expect(requirePanel(budget(used), { now: NOW, isOfJob })).rejects.toMatchObject({
      code: "panel-budget-spent",
      headers: { "retry-after": SIX_HOURS },
    });
  });

  it("cannot be used where no model is configured", async () => {
    await expect(requirePanel(null, { now: NOW, isOfJob: true })).rejects.toMatchObject({
      code: "panel-not-configured",
    });
  });
});
