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
  it.each<[string, Use, Partial<typeof asked>]>([
    ["fits into the third that all share", { used: 300, granted: 20 }, {}],
    ["of a job fits into the rest", { used: 900, granted: 90 }, OF_JOB],
    ["of a newcomer fits into what others have left", { used: 300, today: 0 }, {}],
    ["of an owner with less than it leaves to others fits", { used: 160, today: 160 }, {}],
    ["waits for no other one of an owner with verdicts", { paid: 9_000, unpaid: 9_000 }, {}],
    ["of a newcomer may wait beside two of the largest", { largestRun: 40, unpaid: 80 }, {}],
  ])("%s", async (_, use, changes) => {
    const outcome = requirePanel(panelBudget(use), NOW, { ...asked, ...changes });
    await expect(outcome).resolves.toBeUndefined();
  });

  it.each<[string, Use, Partial<typeof asked> & { isReturnable?: boolean }, RegExp, string]>([
    ["is refused with the shared third used", { used: 330 }, {}, SPENT, SIX_HOURS],
    ["is refused with the shared third granted to others", { granted: 330 }, {}, SPENT, SIX_HOURS],
    ["of a job is refused with the day used", { used: 991 }, OF_JOB, SPENT, SIX_HOURS],
    [
      "is refused to an owner who has as much as is left to all others",
      { used: 170, today: 170 },
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
      "is refused to a newcomer whose payment may go back, after many that did",
      { returned: 34 },
      { isReturnable: true },
      /Pay by another scheme/,
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
