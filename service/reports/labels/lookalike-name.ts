/** Letters that look like Latin ones; of the two scripts whose letters do. */
const LATIN_LOOKALIKES = new Set(
  // Cyrillic, then Greek.
  "асеһіјӏорԛѕуԝхԁүԍАВСЕНІЈКӀМОРԚЅТУԜХЗГҮԌαγικνορυχωΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
);

const SCRIPTS = [/\p{Script=Latin}/u, /\p{Script=Cyrillic}/u, /\p{Script=Greek}/u] as const;

/**
 * Whether a name could be taken for another: one that mixes Latin, Cyrillic and Greek letters, or is made of nothing but
 * Cyrillic or Greek letters that look like Latin ones.
 */
export function isLookalikeName(name: string): boolean {
  if (SCRIPTS.filter((script) => script.test(name)).length > 1) return true;
  const letters = [...name].filter((character) => /\p{L}/u.test(character));
  return letters.length > 0 && letters.every((letter) => LATIN_LOOKALIKES.has(letter));
}
