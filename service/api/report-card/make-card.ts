import { Resvg } from "@resvg/resvg-js";
import satori from "satori";
import { CARD } from "./card-look.ts";
import type { CardView } from "./card-view.ts";
import { drawCard } from "./draw-card.ts";
import type { Element } from "./element.ts";
import type { CardFont } from "./fonts.ts";

export type CardFormat = "png" | "svg";

/** Draws a card: every text becomes outlines, so that the picture needs no font, no network and holds no text of anybody's. */
export async function makeCard(
  view: CardView,
  format: CardFormat,
  fonts: readonly CardFont[],
): Promise<string | Uint8Array> {
  const svg = await satori(asNode(drawCard(view)), { ...CARD, fonts: [...fonts] });
  if (format === "svg") return svg;
  return new Resvg(svg, { font: { loadSystemFonts: false } }).render().asPng();
}

// satori reads type and props alone; React's own type asks for a key besides.
function asNode(element: Element): Parameters<typeof satori>[0] {
  return element as unknown as Parameters<typeof satori>[0];
}
