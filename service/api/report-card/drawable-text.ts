/**
 * Keeps the characters of the fonts: Latin, Greek, Cyrillic, digits and common punctuation. Others are removed, so that nothing
 * is fetched and no placeholder boxes appear.
 */
export function drawableText(text: string): string {
  return text
    .replace(
      /[^\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\u0020-\u007e\u00a1-\u00ff\u2010-\u2027\u20ac]/gu,
      " ",
    )
    .replace(/\s+/g, " ")
    .trim();
}
