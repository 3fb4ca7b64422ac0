import type { Grade } from "../../model/score/record.ts";
import { CARD, drawMark, type Element, gradeColour } from "./draw-card.ts";

/** Content of the picture of a link preview. */
export type PreviewView = {
  /** Name of the agent, or the short address. */
  readonly title: string;
  readonly subtitle: string;
  /** Null for the service itself. */
  readonly reading: {
    readonly score: number | null;
    readonly grade: Grade | null;
    readonly label: string;
  } | null;
};

const GROUND = "#0b1020";
const STRONG = "#f5f7ff";
const PLAIN = "#a7b1d1";

/** The picture of a link preview, as input of satori. */
export function drawPreview({ title, subtitle, reading }: PreviewView): Element {
  return box(
    { ...CARD, flexDirection: "column", justifyContent: "space-between", padding: 72, background: GROUND },
    [
      box({ alignItems: "center", gap: 22 }, [
        drawMark(54),
        words({ fontSize: 36, fontWeight: 600, color: STRONG }, "Agent Health"),
      ]),
      box({ alignItems: "center", justifyContent: "space-between", gap: 40 }, [
        box({ flexDirection: "column", maxWidth: reading === null ? 1056 : 680 }, [
          words(
            { fontSize: title.length > 24 ? 56 : 72, fontWeight: 700, color: STRONG, lineClamp: 2 },
            title,
          ),
          words({ fontSize: 32, color: PLAIN, marginTop: 18, lineClamp: 2 }, subtitle),
        ]),
        ...(reading === null ? [] : [drawReading(reading)]),
      ]),
      words(
        { fontSize: 26, color: PLAIN },
        "Scored by on-chain behaviour, 0 to 100. Anyone can recompute it.",
      ),
    ],
  );
}

function drawReading({ score, grade, label }: NonNullable<PreviewView["reading"]>): Element {
  const color = gradeColour(grade);
  return box({ flexDirection: "column", alignItems: "center" }, [
    words(
      { fontSize: score === null ? 120 : 170, fontWeight: 700, color, lineHeight: 1 },
      score === null ? "–" : String(score),
    ),
    words(
      { fontSize: 38, fontWeight: 600, color, marginTop: 14 },
      grade === null ? label : `${grade} · ${label}`,
    ),
  ]);
}

type Style = Readonly<Record<string, string | number>>;

function box(style: Style, children: readonly Element[]): Element {
  return { type: "div", props: { style: { display: "flex", boxSizing: "border-box", ...style }, children } };
}

function words(style: Style, text: string): Element {
  return {
    type: "div",
    props: { style: { display: "block", overflow: "hidden", fontFamily: FONTS, ...style }, children: text },
  };
}

/** All subsets of the fonts that make-card.ts loads. */
const FONTS = "Inter, Inter Ext, Inter Greek, Inter Cyrillic";
