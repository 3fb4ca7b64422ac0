/** Words of requirements that say nothing of what is required, and those that only say that something is to be said. */
const COMMON = new Set(
  `about above after all also and answer any are before being below between both but can contain contains deliver
  deliverable does each every exactly following for from get give given gives has have having how include included includes
  including into its itself least less let list lists made make makes may mention mentions more most must name names need
  needs not only other our out output over provide provided same say says shall should show shows state states such tell
  tells text than that the their them then there these they this those through under use used uses using very was well were
  what when where which while who will with within without work would write written you your`.split(/\s+/),
);

/** Words are the same whose first letters are: "summary" and "summarise". */
const STEM_LETTERS = 6;
const LEAST_LETTERS = 3;

/** Words of a requirement by the forms in which they are compared: three letters and more, numbers, pairs of other signs. */
export function significantWords(text: string): ReadonlyMap<string, string> {
  const words = wordsOf(text).filter((word) => !COMMON.has(word));
  return new Map(words.map((word) => [stemOf(word), word]));
}

/** Words of a requirement that a text lacks, as the requirement has them. */
export function missingWords(wanted: ReadonlyMap<string, string>, present: ReadonlySet<string>) {
  return [...wanted].flatMap(([form, word]) => (present.has(form) ? [] : [word]));
}

/** The share of a requirement's words that a text has, 0 to 1; 1 where it has no significant word. */
export function coverage(wanted: ReadonlyMap<string, string>, present: ReadonlySet<string>): number {
  if (wanted.size === 0) return 1;
  return [...wanted.keys()].filter((form) => present.has(form)).length / wanted.size;
}

/** Every word of a text in the form in which words are compared. */
export function presentWords(text: string): ReadonlySet<string> {
  return new Set(wordsOf(text).map(stemOf));
}

function wordsOf(text: string): string[] {
  const spaced = text
    .normalize("NFKC")
    .replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
    .toLowerCase();
  const words = spaced.match(/\p{N}+(?:[.,]\p{N}+)*|[\p{L}\p{M}]+/gu) ?? [];
  return words.flatMap((word) => {
    if (/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u.test(word))
      return pairsOf(word);
    return /^\p{N}/u.test(word) || word.length >= LEAST_LETTERS ? [word] : [];
  });
}

function pairsOf(word: string): string[] {
  const signs = [...word];
  return signs.length < 2 ? signs : signs.slice(1).map((sign, before) => `${signs[before]}${sign}`);
}

function stemOf(word: string): string {
  return /^\p{N}/u.test(word) ? word : [...word].slice(0, STEM_LETTERS).join("");
}
