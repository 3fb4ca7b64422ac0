import { existsSync } from "node:fs";

const PLACES = [
  process.env.CHROMIUM_PATH,
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
];

/** Path of this machine's Chromium. Null if it is missing, which fails in CI. */
export const CHROMIUM: string | null = findChromium();

function findChromium(): string | null {
  const found = PLACES.find((place) => place !== undefined && existsSync(place)) ?? null;
  if (found === null && process.env.CI === "true") throw new Error("no Chromium: install Debian's chromium");
  return found;
}
