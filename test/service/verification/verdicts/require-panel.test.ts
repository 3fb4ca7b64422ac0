import { describe, expect, it } from "vitest";
import { requirePanel } from "../../../../service/verification/verdicts/token-budget.ts";
import { panelBudget } from "../../../support/panel-budget.ts";

const NOW = new Date("2026-11-20T18:00:00.000Z");
const SIX_HOURS = String(6 * 3_600);
const asked = { owner: "key:1", isOfJob: false, runTokens: 10 };
const OF_JOB = { isOfJob: true };
const SPENT = /used up its tokens/;

type Use = Parameters<typeof panelBudget>[0];

describe("an output", () => {
  it.each<[string, Use, Partial<typeof asked> & { isReturnable?: boolean }]>([
    ["fits into the quarter for outputs without a job", { used: 200, granted: 40 }, {}],
    ["of a job fits into three quarters", { used: 700, granted: 40 }, OF_JOB],
    [
      "of a job does not wait for unpaid runs and those without a verdict",
      { free: 999, returned: 490 },
      OF_JOB,
    ],
    ["of a newcomer fits into what others have left", { used: 230, today: 0 }, {}],
    ["of an owner with less than it leaves to others fits", { used: 120, today: 120 }, {}],
    ["waits for no other one of an owner with verdicts", { paid: 9_000, unpaid: 9_000 }, {}],
    ["of a newcomer may wait beside two of the largest", { largestRun: 40, unpaid: 80 }, {}],
    ["of a newcomer whose price is settled fits after many prices went back", { returned: 490 }, {}],
    [
      "of a regular buyer fits after many prices went back",
      { returned: 900, paid: 80 },
      { isReturnable: true },
    ],
  ])("%s", async (_, use, changes) => {
    const outcome = requirePanel(panelBudget(use), NOW, { ...asked, ...changes });
    await expect(outcome).resolves.toBeUndefined();
  });

  it.each<[string, Use, Partial<typeof asked> & { isReturnable?: boolean }, RegExp, string]>([
    ["is refused with that quarter used", { used: 241 }, {}, SPENT, SIX_HOURS],
    ["is refused with that quarter granted to others", { granted: 241 }, {}, SPENT, SIX_HOURS],
    ["of a job is refused with three quarters used", { used: 741 }, OF_JOB, SPENT, SIX_HOURS],
    [
      "is refused to an owner who has as much as is left to all others",
      { used: 130, today: 130 },
      {},
      /as are left for all others/,
      SIX_HOURS,
    ],
    [
      "is refused to a newcomer whose outputs wait, or failed by their texts",
      { largestRun: 40, unpaid: 81 },
      {},
      /wait, or that came to no verdict/,
      "30",
    ],
    [
      "is refused to a newcomer whose price may go back, after many that did",
      { returned: 16 },
      { isReturnable: true },
      /Pay by x402's scheme exact/,
      SIX_HOURS,
    ],
    [
      "is refused to a newcomer after half of the day's tokens went without a verdict",
      { returned: 491 },
      {},
      /have gone back without a verdict\.$/,
      SIX_HOURS,
    ],
    [
      "is refused to an owner that had a quarter of its paid tokens back, after many prices went back",
      { returned: 16, paid: 79 },
      { isReturnable: true },
      /Pay by x402's scheme exact/,
      SIX_HOURS,
    ],
  ])("%s", async (_, use, changes, detail, retryAfter) => {
    const outcome = requirePanel(panelBudget(use), NOW, { ...asked, ...changes });
    await expect(outcome).rejects.toMatchObject({
      code: "panel-budget-spent",
      detail: expect.stringMatching(detail),
      headers: { "retry-after": retryAfter },
    });
  });

  it("is refused where no model is configured", async () => {
    await expect(requirePanel(null, NOW, asked)).rejects.toMatchObject({ code: "panel-not-configured" });
  });
});
