import { seenSigns } from "./strip-marker.ts";

/** More of a quotation names no other place, and makes every search longer. */
const MOST_CHARACTERS = 400;

/** As JSON writes signs within a text: a model that copies exactly from an answer of another copies these. */
const ESCAPES = /\\(?:([\\/"])|[nrtbf]|u00[01][\da-fA-F])/g;
/** Stands for what cannot be stored: models copy it or leave it out. */
const UNSTORABLE = /\uFFFD/g;
const QUOTES = /[“”„‟‘’‚‛'«»‹›]/g;
const DASHES = /[\u2010-\u2015\u2212]/g;

/**
 * Tells of a quotation whether one of the texts holds it, of which so many characters have to be left. Case, width, style, accents,
 * space, escapes of JSON, characters that show nothing, and the kinds of quotation marks and dashes make no difference, nor do
 * quotation marks and ellipses at its ends: texts may be written so that no model copies them exactly. They are made ready once a
 * quotation is looked for.
 */
export function createQuoteSearch(
  texts: readonly string[],
  leastCharacters: number,
): (quotation: string) => boolean {
  let ready: readonly string[] | null = null;
  return (quotation) => {
    const sought = withoutEnds(plain(quotation).slice(0, MOST_CHARACTERS));
    if (sought.length < leastCharacters) return false;
    ready ??= [...new Set(texts)].map(plain);
    return ready.some((text) => text.includes(sought));
  };
}

function plain(text: string): string {
  const unescaped = text.replace(ESCAPES, "$1");
  return seenSigns(unescaped).replace(UNSTORABLE, "").replace(QUOTES, '"').replace(DASHES, "-");
}

function withoutEnds(quotation: string): string {
  return quotation.replace(/^(?:"|\.{3})+/, "").replace(/(?:"|\.{3})+$/, "");
}
