import { readFileSync } from "node:fs";
import { Resvg } from "@resvg/resvg-js";
import satori from "satori";
import { CARD, type CardView, drawCard, type Element } from "./draw-card.ts";
import { drawPreview, type PreviewView } from "./draw-preview.ts";

export type CardFormat = "png" | "svg";

/** Draws a card, or the smaller picture of a link preview. Texts become outlines, so the picture needs no font or network and contains no third-party text. */
export async function makeCard(
  view: CardView | PreviewView,
  format: CardFormat,
  fonts: ReturnType<typeof loadCardFonts>,
): Promise<string | Uint8Array> {
  const drawn = "features" in view ? drawCard(view) : drawPreview(view);
  const svg = shortened(await satori(asNode(drawn), { ...CARD, fonts: [...fonts] }));
  if (format === "svg") return svg;
  return new Resvg(svg, { font: { loadSystemFonts: false } }).render().asPng();
}

/** Rounds all numbers to a hundredth of a pixel, which halves the outlines of letters. */
function shortened(svg: string): string {
  return svg.replace(/\d+\.\d{3,}/g, (digits) => String(Number(Number(digits).toFixed(2))));
}

// satori reads type and props only; React's type also requires a key.
function asNode(element: Element): Parameters<typeof satori>[0] {
  return element as unknown as Parameters<typeof satori>[0];
}

const WEIGHTS = [400, 600, 700] as const;

/** The subsets of Inter, each with its own name, so that a missing letter falls back to the next subset. */
const SUBSETS = [
  ["Inter", "latin"],
  ["Inter Ext", "latin-ext"],
  ["Inter Greek", "greek"],
  ["Inter Cyrillic", "cyrillic"],
] as const;

export function loadCardFonts() {
  const folder = new URL("files/", import.meta.resolve("@fontsource/inter/package.json"));
  return SUBSETS.flatMap(([name, subset]) =>
    WEIGHTS.map((weight) => {
      const file = new URL(`inter-${subset}-${weight}-normal.woff`, folder);
      return { name, weight, style: "normal" as const, data: readFileSync(file) };
    }),
  );
}
