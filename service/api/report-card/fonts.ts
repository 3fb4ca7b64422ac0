import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

/** A font file as satori takes it. */
export type CardFont = {
  readonly name: string;
  readonly data: Buffer;
  readonly weight: 400 | 600 | 700;
  readonly style: "normal";
};

const WEIGHTS = [400, 600, 700] as const;

/** The subsets of Inter, each under its own name, so that a letter that one does not have is looked for in the next. */
const SUBSETS = [
  ["Inter", "latin"],
  ["Inter Ext", "latin-ext"],
  ["Inter Greek", "greek"],
  ["Inter Cyrillic", "cyrillic"],
] as const;

/** Reads the fonts of the card from the package that holds them. */
export function loadCardFonts(): readonly CardFont[] {
  const { resolve } = createRequire(import.meta.url);
  return SUBSETS.flatMap(([name, subset]) =>
    WEIGHTS.map((weight): CardFont => {
      const file = resolve(`@fontsource/inter/files/inter-${subset}-${weight}-normal.woff`);
      return { name, weight, style: "normal", data: readFileSync(file) };
    }),
  );
}
