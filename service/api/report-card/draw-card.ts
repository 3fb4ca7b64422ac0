import type { Grade } from "../../model/score/record.ts";

/** Content of the picture of a report card: final texts and unscaled numbers. */
export type CardView = {
  readonly title: string;
  /** Subtitle of a title that is a name; null for an address. */
  readonly titleNote: string | null;
  readonly address: string;
  readonly source: string;
  readonly grade: Grade | null;
  readonly score: number | null;
  readonly label: string;
  readonly action: string;
  readonly confidence: string;
  /** Null for an unlisted wallet. */
  readonly sanctioned: string | null;
  readonly dimensions: readonly { readonly title: string; readonly score: number | null }[];
  readonly features: readonly {
    readonly title: string;
    readonly says: string;
    readonly score: number | null;
  }[];
  readonly notes: readonly { readonly text: string; readonly isBad: boolean }[];
  readonly tenths: readonly number[];
  /** Tenth of the wallet's score; null without a score. */
  readonly ownTenth: number | null;
  readonly ranking: string;
  /** Scores, oldest first; null for days without one. */
  readonly history: readonly (number | null)[];
  readonly historyCaption: string;
  readonly footer: string;
  /** Address of the page that shows the same score. */
  readonly link: string;
};

/** Size that link previews expect. */
export const CARD = { width: 1200, height: 630 } as const;

/** Light text on a dark ground, with a contrast of at least 4.5. */
const INK = {
  ground: "#0b1020",
  panel: "#141b30",
  rule: "#26304d",
  strong: "#f5f7ff",
  plain: "#c3cbe4",
  faint: "#8a95b8",
  brand: "#7c8cff",
  alarm: "#ff5d6c",
  caution: "#f5c542",
} as const;

const GRADES: Readonly<Record<Grade, string>> = {
  A: "#2fd27d",
  B: "#9bd84a",
  C: "#f5c542",
  D: "#ff9a4d",
  E: "#ff7350",
  F: "#ff5d6c",
};

export function gradeColour(grade: Grade | null): string {
  return grade === null ? INK.faint : GRADES[grade];
}

function scoreColour(score: number | null): string {
  if (score === null) return INK.rule;
  if (score >= 90) return GRADES.A;
  if (score >= 75) return GRADES.B;
  if (score >= 60) return GRADES.C;
  if (score >= 40) return GRADES.D;
  return score >= 20 ? GRADES.E : GRADES.F;
}

/** Input of satori: a tag with style and children, or text. */
export type Element = {
  readonly type: "div" | "svg" | "path" | "circle";
  readonly props: Readonly<Record<string, unknown>>;
};

type Style = Readonly<Record<string, string | number>>;

function row(style: Style, children: readonly Element[]): Element {
  return box({ flexDirection: "row", ...style }, children);
}

function column(style: Style, children: readonly Element[]): Element {
  return box({ flexDirection: "column", ...style }, children);
}

/** One line of text, with an ellipsis if its box is too narrow. */
function line(style: Style, content: string): Element {
  return {
    type: "div",
    props: {
      style: {
        display: "block",
        whiteSpace: "nowrap",
        overflow: "hidden",
        textOverflow: "ellipsis",
        ...style,
      },
      children: content,
    },
  };
}

function lines(most: number, style: Style, content: string): Element {
  return {
    type: "div",
    props: { style: { display: "block", overflow: "hidden", lineClamp: most, ...style }, children: content },
  };
}

function picture({ width, height }: { width: number; height: number }, shapes: readonly Element[]): Element {
  return { type: "svg", props: { width, height, viewBox: `0 0 ${width} ${height}`, children: shapes } };
}

function shape(type: "path" | "circle", props: Style): Element {
  return { type, props };
}

function box(style: Style, children: readonly Element[]): Element {
  return { type: "div", props: { style: { display: "flex", boxSizing: "border-box", ...style }, children } };
}

const LEFT = 372;
const RIGHT = 708;
const GAP = 24;
const HALF = (RIGHT - GAP) / 2;

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
      row({ justifyContent: "space-between", gap: 24 }, [
        line({ fontSize: 15, color: INK.faint }, view.footer),
        line({ fontSize: 15, color: INK.plain }, view.link),
      ]),
    ],
  );
}

function header({ source }: CardView): Element {
  return row({ justifyContent: "space-between", alignItems: "center" }, [
    row({ alignItems: "center", gap: 12 }, [
      drawMark(34),
      line({ fontSize: 24, fontWeight: 700, color: INK.strong }, "Agent Health"),
      line({ fontSize: 24, color: INK.faint }, "Report card"),
    ]),
    line({ fontSize: 18, color: INK.faint }, source),
  ]);
}

/** The bars of the site's logo. */
export function drawMark(height: number): Element {
  const bars = [0.4, 0.65, 1, 0.65, 0.4].map((share) =>
    row(
      {
        width: height * 0.14,
        height: height * share,
        borderRadius: height * 0.03,
        background: share === 1 ? INK.brand : INK.faint,
      },
      [],
    ),
  );
  return row({ alignItems: "flex-end", gap: height * 0.13, height }, bars);
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

function panel(style: Style, children: readonly Element[]): Element {
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

const FEATURES_WIDTH = 662;
const COLUMN_WIDTH = (FEATURES_WIDTH - 28) / 2;

function drawDimensions({ dimensions }: CardView): Element {
  return row(
    { gap: 28 },
    dimensions.map(({ title, score }) =>
      column({ width: COLUMN_WIDTH, gap: 8 }, [
        row({ justifyContent: "space-between", alignItems: "flex-end" }, [
          line({ fontSize: 17, fontWeight: 600, color: INK.strong }, title),
          line({ fontSize: 22, fontWeight: 700, color: INK.strong }, score === null ? "–" : String(score)),
        ]),
        bar(score, { width: COLUMN_WIDTH, height: 10 }),
      ]),
    ),
  );
}

function drawFeatures({ features, sanctioned }: CardView): Element {
  if (features.length === 0) {
    return line({ fontSize: 17, color: INK.faint, paddingTop: 10 }, "Nothing could be measured yet.");
  }
  return column({ gap: 8, paddingTop: 12, borderTop: `1px solid ${INK.rule}` }, [
    ...features.map(({ title, says, score }) =>
      row({ alignItems: "center", justifyContent: "space-between" }, [
        line({ width: 186, fontSize: 16, fontWeight: 600, color: INK.plain }, title),
        lines(2, { width: 350, fontSize: 14, lineHeight: 1.15, color: INK.faint }, says),
        bar(score, { width: 64, height: 8 }),
        line(
          { width: 36, fontSize: 16, fontWeight: 600, color: INK.plain, textAlign: "right" },
          score === null ? "–" : String(Math.round(score)),
        ),
      ]),
    ),
    ...(sanctioned === null
      ? []
      : [line({ fontSize: 15, color: INK.faint }, "The listing alone decides; no other feature counts.")]),
  ]);
}

function bar(score: number | null, { width, height }: { width: number; height: number }): Element {
  const filled = score === null ? 0 : Math.round((width * Math.min(100, Math.max(0, score))) / 100);
  return row({ width, height, borderRadius: height / 2, background: INK.rule }, [
    row({ width: filled, height, borderRadius: height / 2, background: scoreColour(score) }, []),
  ]);
}

const CHART_HEIGHT = 70;
const BAR_GAP = 6;

/** Wallets by score; the wallet's own tenth has the colour of its grade. */
function drawDistribution({ tenths, ownTenth, grade, ranking }: CardView, width: number): Element {
  const most = Math.max(1, ...tenths);
  const barWidth = Math.floor((width - BAR_GAP * (tenths.length - 1)) / tenths.length);
  const bars = tenths.map((wallets, tenth) =>
    row(
      {
        width: barWidth,
        // Even one of a million stays visible.
        height: wallets === 0 ? 2 : Math.max(5, Math.round((CHART_HEIGHT * wallets) / most)),
        borderRadius: 3,
        background: tenth === ownTenth ? gradeColour(grade) : INK.rule,
      },
      [],
    ),
  );
  return column({ gap: 8, height: 140, justifyContent: "space-between" }, [
    line({ fontSize: 16, fontWeight: 600, color: INK.plain }, ranking),
    row({ width, height: CHART_HEIGHT, gap: BAR_GAP, alignItems: "flex-end" }, bars),
    scale(width, ["0", "50", "100"]),
  ]);
}

function drawHistory({ history, historyCaption, grade }: CardView, width: number): Element {
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

/** A line through the scores, broken at gaps, with a dot on the newest. */
function sparkline(
  history: readonly (number | null)[],
  { width, colour }: { width: number; colour: string },
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
