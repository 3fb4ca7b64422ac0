import { readFileSync } from "node:fs";

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
  const folder = new URL("files/", import.meta.resolve("@fontsource/inter/package.json"));
  return SUBSETS.flatMap(([name, subset]) =>
    WEIGHTS.map((weight): CardFont => {
      const file = new URL(`inter-${subset}-${weight}-normal.woff`, folder);
      return { name, weight, style: "normal", data: readFileSync(file) };
    }),
  );
}
