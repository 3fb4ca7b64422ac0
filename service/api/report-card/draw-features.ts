import { INK, scoreColour } from "./card-look.ts";
import type { CardView } from "./card-view.ts";
import { column, type Element, line, row } from "./element.ts";

const WIDTH = 662;
const HALF = (WIDTH - 28) / 2;

/** Both dimensions, each with its bar. */
export function drawDimensions({ dimensions }: CardView): Element {
  return row(
    { gap: 28 },
    dimensions.map(({ title, score }) =>
      column({ width: HALF, gap: 8 }, [
        row({ justifyContent: "space-between", alignItems: "flex-end" }, [
          line({ fontSize: 17, fontWeight: 600, color: INK.strong }, title),
          line({ fontSize: 22, fontWeight: 700, color: INK.strong }, score === null ? "–" : String(score)),
        ]),
        bar(score, { width: HALF, height: 10 }),
      ]),
    ),
  );
}

/** What was measured, in words. */
export function drawFeatures({ features }: CardView): Element {
  if (features.length === 0) {
    return line({ fontSize: 17, color: INK.faint, paddingTop: 10 }, "Nothing could be measured yet.");
  }
  return column(
    { gap: 11, paddingTop: 12, borderTop: `1px solid ${INK.rule}` },
    features.map(({ title, says, score }) =>
      row({ alignItems: "center", justifyContent: "space-between" }, [
        line({ width: 186, fontSize: 16, fontWeight: 600, color: INK.plain }, title),
        line({ width: 350, fontSize: 15, color: INK.faint }, says),
        bar(score, { width: 64, height: 8 }),
        line(
          { width: 36, fontSize: 16, fontWeight: 600, color: INK.plain, textAlign: "right" },
          score === null ? "–" : String(Math.round(score)),
        ),
      ]),
    ),
  );
}

function bar(
  score: number | null,
  { width, height }: { readonly width: number; readonly height: number },
): Element {
  const filled = score === null ? 0 : Math.round((width * Math.min(100, Math.max(0, score))) / 100);
  return row({ width, height, borderRadius: height / 2, background: INK.rule }, [
    row({ width: filled, height, borderRadius: height / 2, background: scoreColour(score) }, []),
  ]);
}
