import { CARD, gradeColour, INK } from "./card-look.ts";
import type { CardView } from "./card-view.ts";
import { drawDistribution, drawHistory } from "./draw-charts.ts";
import { drawDimensions, drawFeatures } from "./draw-features.ts";
import { column, type Element, line, lines, picture, row, shape } from "./element.ts";

const LEFT = 372;
const RIGHT = 708;
const GAP = 24;
const HALF = (RIGHT - GAP) / 2;

/** The picture of a report card as a tree that satori lays out. */
export function drawCard(view: CardView): Element {
  return column(
    {
      width: CARD.width,
      height: CARD.height,
      padding: "36px 48px 28px",
      background: INK.ground,
      color: INK.plain,
      fontFamily: "Inter, Inter Ext, Inter Greek, Inter Cyrillic",
      fontSize: 17,
      justifyContent: "space-between",
    },
    [
      header(view),
      row({ gap: GAP }, [
        summary(view),
        column({ width: RIGHT, gap: GAP, justifyContent: "space-between" }, [
          panel({ width: RIGHT, height: 268, gap: 14 }, [drawDimensions(view), drawFeatures(view)]),
          row({ gap: GAP }, [
            panel({ width: HALF, height: 180 }, [drawDistribution(view, HALF - 44)]),
            panel({ width: HALF, height: 180 }, [drawHistory(view, HALF - 44)]),
          ]),
        ]),
      ]),
      line({ fontSize: 15, color: INK.faint }, view.footer),
    ],
  );
}

function header({ source }: CardView): Element {
  const mark = picture({ width: 34, height: 34 }, [
    shape("path", {
      d: "M2 18 H10 L14 7 L20 28 L24 18 H32",
      stroke: INK.brand,
      "stroke-width": 3.4,
      "stroke-linecap": "round",
      "stroke-linejoin": "round",
      fill: "none",
    }),
  ]);
  return row({ justifyContent: "space-between", alignItems: "center" }, [
    row({ alignItems: "center", gap: 12 }, [
      mark,
      line({ fontSize: 24, fontWeight: 700, color: INK.strong }, "Agent Health"),
      line({ fontSize: 24, color: INK.faint }, "Report card"),
    ]),
    line({ fontSize: 18, color: INK.faint }, source),
  ]);
}

function summary(view: CardView): Element {
  const colour = gradeColour(view.grade);
  return panel({ width: LEFT, height: 472, justifyContent: "space-between" }, [
    column({ gap: 6 }, [
      lines(
        2,
        {
          fontSize: 27,
          fontWeight: 700,
          color: INK.strong,
          lineHeight: 1.2,
          maxHeight: 66,
          wordBreak: "break-word",
        },
        view.title,
      ),
      ...(view.titleNote === null
        ? []
        : [line({ fontSize: 14, fontWeight: 600, color: INK.caution }, view.titleNote)]),
      line({ fontSize: 12.5, color: INK.faint }, view.address),
    ]),
    row({ alignItems: "center", gap: 24 }, [gradeTile(view, colour), scoreText(view, colour)]),
    ...(view.sanctioned === null ? [] : [banner(view.sanctioned)]),
    column({ gap: 10 }, [
      row({ alignItems: "center", gap: 12 }, [
        line({ fontSize: 17, color: INK.faint }, "Payment"),
        pill(view.action, colour),
      ]),
      line({ fontSize: 17, color: INK.plain }, view.confidence),
    ]),
    column({ gap: 8, minHeight: 30 }, view.notes.map(note)),
  ]);
}

function gradeTile({ grade }: CardView, colour: string): Element {
  return row(
    {
      width: 132,
      height: 132,
      flexShrink: 0,
      borderRadius: 26,
      alignItems: "center",
      justifyContent: "center",
      background: grade === null ? INK.ground : colour,
      border: `3px solid ${colour}`,
    },
    [
      line(
        {
          fontSize: grade === null ? 64 : 92,
          fontWeight: 700,
          lineHeight: 1,
          color: grade === null ? INK.faint : INK.ground,
        },
        grade ?? "–",
      ),
    ],
  );
}

function scoreText({ score, label }: CardView, colour: string): Element {
  const figure =
    score === null
      ? line({ fontSize: 36, fontWeight: 700, color: INK.strong }, "No score")
      : row({ alignItems: "flex-end", gap: 6 }, [
          line({ fontSize: 78, fontWeight: 700, lineHeight: 1, color: INK.strong }, String(score)),
          line({ fontSize: 22, color: INK.faint, paddingBottom: 8 }, "/ 100"),
        ]);
  return column({ gap: 8 }, [
    figure,
    lines(2, { width: 172, fontSize: 20, fontWeight: 600, color: colour, lineHeight: 1.2 }, label),
  ]);
}

function banner(text: string): Element {
  return row({ padding: "9px 14px", borderRadius: 10, background: INK.alarm }, [
    lines(2, { fontSize: 17, fontWeight: 700, color: INK.ground, lineHeight: 1.2 }, text),
  ]);
}

function pill(text: string, colour: string): Element {
  return row({ padding: "6px 16px", borderRadius: 20, border: `2px solid ${colour}` }, [
    line({ fontSize: 17, fontWeight: 600, color: colour }, text),
  ]);
}

function note({ text, isBad }: CardView["notes"][number]): Element {
  return row({ alignItems: "center", gap: 10 }, [
    row({ width: 9, height: 9, borderRadius: 5, background: isBad ? INK.alarm : INK.brand }, []),
    line({ width: LEFT - 70, fontSize: 16, color: INK.plain }, text),
  ]);
}

function panel(style: Readonly<Record<string, string | number>>, children: readonly Element[]): Element {
  return column(
    {
      padding: "20px 22px",
      borderRadius: 18,
      background: INK.panel,
      border: `1px solid ${INK.rule}`,
      ...style,
    },
    children,
  );
}
