/** Signs that are not seen, or that turn round how others are read: controls but line feeds, marks of direction, joiners, tags. */
const UNSEEN = /[^\P{C}\n]/gu;
/** Marks that stand on one letter: two are a language, a pile of them hides the lines around. */
const PILED_MARKS = /(\p{M}{3})\p{M}+/gu;

/**
 * What a stranger or a model wrote, fit to be shown: without signs that are not seen, and cut after `most` characters with an
 * ellipsis. It is not escaped: the page's template does that.
 */
export function strangeText(text: string, most: number): string {
  const plain = text.replaceAll(UNSEEN, " ").replaceAll(PILED_MARKS, "$1").trim();
  // Of twice as many code units as characters are shown, one more at least is left over where there are more.
  const characters = [...plain.slice(0, 2 * most + 2)];
  return characters.length <= most ? plain : `${characters.slice(0, most).join("").trimEnd()}…`;
}

/** The first `most` of a list, and how many it has beyond them. */
export function firstOf<Item>(
  items: readonly Item[],
  most: number,
): { readonly shown: readonly Item[]; readonly left: number } {
  return { shown: items.slice(0, most), left: Math.max(0, items.length - most) };
}
