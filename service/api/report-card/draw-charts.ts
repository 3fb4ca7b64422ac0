import { gradeColour, INK } from "./card-look.ts";
import type { CardView } from "./card-view.ts";
import { column, type Element, line, picture, row, shape } from "./element.ts";

const CHART_HEIGHT = 70;
const BAR_GAP = 6;

/** How many wallets have such a score, the wallet's own tenth in the colour of its grade. */
export function drawDistribution({ tenths, ownTenth, grade, standing }: CardView, width: number): Element {
  const most = Math.max(1, ...tenths);
  const barWidth = Math.floor((width - BAR_GAP * (tenths.length - 1)) / tenths.length);
  const bars = tenths.map((wallets, tenth) =>
    row(
      {
        width: barWidth,
        // Even one of a million is seen.
        height: wallets === 0 ? 2 : Math.max(5, Math.round((CHART_HEIGHT * wallets) / most)),
        borderRadius: 3,
        background: tenth === ownTenth ? gradeColour(grade) : INK.rule,
      },
      [],
    ),
  );
  return column({ gap: 8, height: 140, justifyContent: "space-between" }, [
    line({ fontSize: 16, fontWeight: 600, color: INK.plain }, standing),
    row({ width, height: CHART_HEIGHT, gap: BAR_GAP, alignItems: "flex-end" }, bars),
    scale(width, ["0", "50", "100"]),
  ]);
}

/** The scores of the past, on a scale from 0 to 100. */
export function drawHistory({ history, historyCaption, grade }: CardView, width: number): Element {
  return column({ gap: 8, height: 140, justifyContent: "space-between" }, [
    line({ fontSize: 16, fontWeight: 600, color: INK.plain }, "History"),
    picture({ width, height: CHART_HEIGHT }, sparkline(history, { width, colour: gradeColour(grade) })),
    line({ fontSize: 14, color: INK.faint }, historyCaption),
  ]);
}

function scale(width: number, marks: readonly string[]): Element {
  return row(
    { width, justifyContent: "space-between" },
    marks.map((mark) => line({ fontSize: 14, color: INK.faint }, mark)),
  );
}

/** A line through the scores, broken where there was none, with a dot on the newest. */
function sparkline(
  history: readonly (number | null)[],
  { width, colour }: { readonly width: number; readonly colour: string },
): readonly Element[] {
  const inset = 7;
  const step = history.length > 1 ? (width - 2 * inset) / (history.length - 1) : 0;
  const heightOf = (score: number) => inset + ((CHART_HEIGHT - 2 * inset) * (100 - score)) / 100;
  const points = history.map((score, place) =>
    score === null ? null : { x: inset + place * step, y: heightOf(score) },
  );
  const path = points
    .map((point, place) => {
      if (point === null) return "";
      const isStart = place === 0 || points[place - 1] === null;
      return `${isStart ? "M" : "L"}${point.x.toFixed(1)} ${point.y.toFixed(1)}`;
    })
    .join(" ");
  const last = points.findLast((point) => point !== null);
  const base = shape("path", {
    d: `M0 ${CHART_HEIGHT - inset} H${width}`,
    stroke: INK.rule,
    "stroke-width": 2,
    fill: "none",
  });
  if (last === undefined) return [base];
  return [
    base,
    shape("path", {
      d: path.trim(),
      stroke: colour,
      "stroke-width": 3,
      "stroke-linejoin": "round",
      "stroke-linecap": "round",
      fill: "none",
    }),
    shape("circle", { cx: last.x.toFixed(1), cy: last.y.toFixed(1), r: 5.5, fill: colour }),
  ];
}
