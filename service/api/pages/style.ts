import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

/** Version of @fontsource/inter: a new version gets a new URL. */
export const FONT_VERSION = "5.3.0";

const WEIGHTS = [400, 500, 600] as const;

/** Subsets of Inter with their characters, as in the package. */
const SUBSETS = [
  [
    "latin",
    "U+0000-00FF,U+0131,U+0152-0153,U+02BB-02BC,U+02C6,U+02DA,U+02DC,U+0304,U+0308,U+0329,U+2000-206F,U+20AC,U+2122,U+2191,U+2193,U+2212,U+2215,U+FEFF,U+FFFD",
  ],
  [
    "latin-ext",
    "U+0100-02BA,U+02BD-02C5,U+02C7-02CC,U+02CE-02D7,U+02DD-02FF,U+0304,U+0308,U+0329,U+1D00-1DBF,U+1E00-1E9F,U+1EF2-1EFF,U+2020,U+20A0-20AB,U+20AD-20C0,U+2113,U+2C60-2C7F,U+A720-A7FF",
  ],
] as const;

/** Files of the package that the stylesheet names; each is served as /assets/FILE. */
export const FONT_FILES: readonly string[] = SUBSETS.flatMap(([subset]) =>
  WEIGHTS.map((weight) => `inter-${subset}-${weight}-normal.woff2`),
);

const FONT_FACES = SUBSETS.flatMap(([subset, range]) =>
  WEIGHTS.map(
    (weight) =>
      `@font-face { font-family: Inter; font-weight: ${weight}; font-display: swap; src: url("/assets/inter-${subset}-${weight}-normal.woff2?v=${FONT_VERSION}") format("woff2"); unicode-range: ${range}; }`,
  ),
).join("\n");

export const STYLE = `${FONT_FACES}\n${readFileSync(new URL("style.css", import.meta.url), "utf8")}`;

export const STYLE_VERSION = createHash("sha256").update(STYLE).digest("hex").slice(0, 16);

export const STYLE_HREF = `/assets/style.css?v=${STYLE_VERSION}`;
