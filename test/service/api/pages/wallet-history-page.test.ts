import { describe, expect, test } from "vitest";
import type { PagePorts } from "../../../../service/api/pages/page-ports.ts";
import type { HistoryQuery } from "../../../../service/scores/score-history.ts";
import { insufficientScore, storedScore, WALLET, WALLET_EIP55 } from "../fake-ports.ts";
import { fakePublicPages, htmlOf, pagesApp } from "./fake-public-pages.ts";

const PATH = `/wallet/${WALLET_EIP55}/history`;
const EARLIER = storedScore({ ahsScore: 66, grade: "C", asOfTime: new Date("2026-11-18T09:00:00Z") });

/** A history of these points, and the queries that the page made. */
function historyOf(
  points: readonly ReturnType<typeof storedScore>[],
  next: Date | null = null,
): { readonly pages: Partial<PagePorts>; readonly queries: HistoryQuery[] } {
  const queries: HistoryQuery[] = [];
  const scoreHistory: PagePorts["scoreHistory"] = {
    async daily(_, query) {
      queries.push(query);
      return { points, next };
    },
    gradeChanges: async () => ({
      points: points.slice(0, 1).map((point) => ({ ...point, previousGrade: "C" as const })),
      next: null,
    }),
  };
  return { pages: { scoreHistory }, queries };
}

describe("the history of a wallet", () => {
  test("begins with a mark alone where the first score has no grade, which is no change", async () => {
    const first = { ...insufficientScore(), previousGrade: null };
    const daily = async () => ({ points: [first], next: null });
    const gradeChanges = async () => ({ points: [first], next: null });
    const html = await htmlOf(PATH, { scoreHistory: { daily, gradeChanges } });
    expect(html).toContain("No grade: ");
    expect(html).not.toContain("→");
  });

  test("is a line whose points are text as well, the changes of grade with their reason, and a table of days", async () => {
    const html = await htmlOf(PATH, historyOf([storedScore(), EARLIER]).pages);
    expect(html).toContain(
      "2 scores, from 66 on 18 Nov 2026 to 84 on 20 Nov 2026. Each holds until the next.",
    );
    expect(html).toContain("<title>2026-11-20 09:59: 84</title>");
    expect(html).toContain('<td class="number" data-name="Score">66</td>');
    expect(html).toContain('<td data-name="Confidence">High <span class="quiet">(81%)</span></td>');
    expect(html).toMatch(/grade-C.*→.*grade-B.*Grade B: /s);
    expect(html).toContain(`<a href="${PATH}.csv">Download as CSV</a>`);
    expect(html).toContain(`<a href="${PATH}" aria-current="page">History</a>`);
    expect(html).not.toContain("Earlier days");
  });

  test("leads to earlier days and back, and to both from the wallet's page", async () => {
    const { pages, queries } = historyOf([storedScore(), EARLIER], new Date("2026-11-18T00:00:00Z"));
    const html = await htmlOf(`${PATH}?before=2026-11-21`, pages);
    expect(queries).toEqual([{ before: new Date("2026-11-21T00:00:00Z"), limit: 365 }]);
    expect(html).toContain(`rel="next" href="${PATH}?before=2026-11-18">Earlier days</a>`);
    expect(html).toContain(`href="${PATH}">Newest days</a>`);
    expect(await htmlOf(`/wallet/${WALLET_EIP55}`)).toContain(
      `<a href="${PATH}">How the score changed over time</a>`,
    );
  });

  test("says so where nothing is stored, and shows too little history as that", async () => {
    const empty = await htmlOf(PATH, historyOf([]).pages);
    expect(empty).toContain("No score is stored yet.");
    expect(empty).toContain("No grade is stored for this time.");
    const early = await htmlOf(PATH, historyOf([insufficientScore(), insufficientScore()]).pages);
    expect(early).toContain("there was too little history each time");
    expect(early).toContain('data-name="Score">–</td>');
  });

  test("refuses a time that is no day, and goes to the address in EIP-55", async () => {
    const { app } = pagesApp(fakePublicPages());
    expect((await app.request(`${PATH}?before=tomorrow`)).status).toBe(400);
    const moved = await app.request(`/wallet/${WALLET}/history`);
    expect([moved.status, moved.headers.get("location")]).toEqual([308, PATH]);
  });

  test("is a CSV file of its days", async () => {
    const { app } = pagesApp(fakePublicPages(historyOf([storedScore(), insufficientScore()]).pages));
    const answer = await app.request(`${PATH}.csv`);
    expect(answer.headers.get("content-type")).toBe("text/csv; charset=utf-8");
    expect(answer.headers.get("content-disposition")).toBe(
      `attachment; filename="score-history-${WALLET}.csv"`,
    );
    expect((await answer.text()).split("\r\n")).toEqual([
      "as_of_time,as_of_block,ahs_score,grade,d1_score,d2_score,confidence,confidence_level,sanctioned,model_version,inputs_hash",
      `2026-11-20T09:59:00.000Z,970,84,B,88,82,0.81,HIGH,false,AHS-2026.2,0x${"22".repeat(32)}`,
      `2026-11-20T09:59:00.000Z,970,,,,,0.15,INSUFFICIENT,false,AHS-2026.2,0x${"22".repeat(32)}`,
      "",
    ]);
  });
});
