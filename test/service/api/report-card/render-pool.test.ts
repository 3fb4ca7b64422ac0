import { afterAll, describe, expect, it } from "vitest";
import { viewOf } from "../../../../service/api/report-card/card-view.ts";
import type { CardView } from "../../../../service/api/report-card/draw-card.ts";
import { CardsOverloaded, createCardRenderer } from "../../../../service/api/report-card/render-pool.ts";
import { type ReportCard, reportCardSchema } from "../../../../service/api/routes/get-report-card-schema.ts";
import { exampleAnswer } from "../example-answer.ts";

const PNG = [0x89, 0x50, 0x4e, 0x47];
const HOSTILE = `</text><script>alert("1")</script>&amp;<image href="https://evil.example/x.png"/>`;
const renderer = createCardRenderer({ workers: 2, waiting: 16, deadlineMs: 25_000 });
afterAll(() => renderer.close());

const CARD = reportCardSchema.parse(exampleAnswer("/report-card/{address}"));
const view = (changes: Partial<ReportCard> = {}) => viewOf({ ...CARD, ...changes }, "https://health.example");

async function svgOf(shown: CardView): Promise<string> {
  return String(await renderer.render(shown, "svg"));
}

/** Width and height, as a PNG's header says. */
function sizeOf(png: Uint8Array): readonly number[] {
  const bytes = new DataView(png.buffer, png.byteOffset);
  return [bytes.getUint32(16), bytes.getUint32(20)];
}

describe("report cards", () => {
  it("are PNGs of 1200 × 630", async () => {
    const card = await renderer.render(view(), "png");
    if (typeof card === "string") throw new Error("expected bytes");
    expect([...card.slice(0, 4)]).toEqual(PNG);
    expect(sizeOf(card)).toEqual([1200, 630]);
  });

  it("hold no text, script or link of a hostile name: only outlines", async () => {
    const svg = await svgOf(view({ name: HOSTILE }));
    expect(svg).toMatch(/^<svg /);
    expect(svg).not.toMatch(/<script|<text|<foreignObject|evil|alert|onload/i);
    const outside = [...svg.matchAll(/href="([^"]*)"/g)].map(([, href]) => href ?? "");
    expect(outside.filter((href) => !/^(#|data:image\/svg\+xml)/.test(href))).toEqual([]);
  });

  it.each<readonly [string, Partial<ReportCard>]>([
    ["a name of many scripts", { name: "Ünïcödé Ελλάδα Кот 漢字 🚀 عربى" }],
    ["a name of nothing that can be drawn", { name: "漢字🚀" }],
    ["a long name", { name: "Very long name ".repeat(40) }],
    ["no score", { ahs_score: null, grade: null, grade_label: "Insufficient history", history: [] }],
    ["huge numbers", { as_of_block: Number.MAX_SAFE_INTEGER, confidence: 0.123456789 }],
    [
      "scores that come and go",
      {
        history: [50, null, 0, 100, null].map((ahs_score, day) => {
          return { as_of_time: `2026-11-1${day}T00:00:00.000Z`, ahs_score, grade: null };
        }),
      },
    ],
  ])("are drawn with %s", async (_what, changes) => {
    expect(await svgOf(view(changes))).toContain('width="1200" height="630"');
  });

  it("are drawn beside the event loop, which goes on meanwhile", async () => {
    await svgOf(view());
    const [own, all] = [process.threadCpuUsage(), process.cpuUsage()];
    await Promise.all(Array.from({ length: 4 }, () => renderer.render(view(), "png")));
    // CPU time of the thread of the event loop, and of all threads.
    expect(process.threadCpuUsage(own).user).toBeLessThan(process.cpuUsage(all).user / 2);
  });

  it("refuse more than may wait, and end those that take too long without ending the others", async () => {
    const small = createCardRenderer({ workers: 1, waiting: 1, deadlineMs: 1 });
    const late = small.render(view(), "svg");
    await expect(late).rejects.toThrow(CardsOverloaded);
    const first = createCardRenderer({ workers: 1, waiting: 1, deadlineMs: 25_000 });
    const drawn = first.render(view(), "svg");
    const waiting = first.render(view(), "svg");
    expect(first.hasRoom()).toBe(false);
    await expect(first.render(view(), "svg")).rejects.toThrow(CardsOverloaded);
    expect(String(await drawn)).toMatch(/^<svg/);
    expect(String(await waiting)).toMatch(/^<svg/);
    await Promise.all([small.close(), first.close()]);
    await expect(first.render(view(), "svg")).rejects.toThrow(CardsOverloaded);
  });

  it("fail one by one: a card that cannot be drawn leaves the worker to the next", async () => {
    // A cast: no card has such a view.
    const broken = { ...view(), tenths: null } as unknown as CardView;
    await expect(renderer.render(broken, "svg")).rejects.toThrow("could not be drawn");
    expect(await svgOf(view())).toMatch(/^<svg/);
  });
});

describe("a card's view", () => {
  it("shows the worst features first, and what a pattern took once", () => {
    const feature = (name: string, score: number | null) => ({
      ...{ dimension: "D1" as const, name, title: name, says: `says ${name}`, score, weight: 0.2 },
      ...{ contribution: score, value: 1, unit: "points", samples: 1, state: "measured" as const },
      ...{ inputs: {}, reason: null },
    });
    const { features, notes } = view({
      dimensions: [
        {
          ...{ dimension: "D1", title: "Wallet hygiene", weight: 0.3, score: 50 },
          features: [feature("good", 90), feature("bad", 10), feature("unknown", null)],
        },
      ],
      patterns: [{ name: "ring", title: "Ring", severity: "critical", effect: -15, evidence: "" }],
      adjustments: [
        { dimension: "AHS", name: "ring", title: "Ring", points: -15, says: "" },
        { dimension: "AHS", name: "weak_link", title: "Weak link", points: -3.25, says: "" },
      ],
    });
    expect(features.map(({ title }) => title)).toEqual(["bad", "good"]);
    expect(notes).toEqual([
      { text: "Ring −15", isBad: true },
      { text: "Weak link −3.2", isBad: true },
    ]);
  });

  it("shows of a sanctioned wallet its listings and nothing else", () => {
    const listing = { source: "ofac-sdn", reference: "1", detected_at: "2026-11-05T13:58:30.000Z" } as const;
    const { features, notes } = view({
      sanctions_flags: [listing],
      ahs_score: 0,
      grade: "F",
      adjustments: [{ dimension: "AHS", name: "weak_link", title: "Weak link", points: -54.25, says: "" }],
    });
    expect(features).toEqual([{ title: "Sanctions", says: "Listed: OFAC SDN, seen 2026-11-05", score: 0 }]);
    expect(notes).toEqual([{ text: "The listing alone makes the score 0", isBad: true }]);
  });

  it("speaks of days, since it shows one score of each", () => {
    expect(view().historyCaption).toBe("One day so far, 2026-11-20");
    expect(view({ history: [] }).historyCaption).toBe("No score yet");
  });
});
