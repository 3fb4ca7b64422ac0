import { words } from "./word-set.ts";

/** Frequent words of English, German, French, Spanish, Italian, Portuguese and Dutch, each unlike those of languages that are romanised. */
const FREQUENT = words(
  "of and with which from that this was for have been their und der die ist nicht auf eine von les est dans pour qui que los las para " +
    "por como della che nella não uma com het een voor",
);
/** Texts in these languages have many more, romanised ones with foreign phrases hardly any. */
const FREQUENT_SHARE = 0.05;
/** Enough to tell a language by. */
const READ_CHARACTERS = 20_000;

/** Whether a text in Latin letters is in one of the languages named here, rather than another language in Latin letters. */
export function isEuropean(text: string): boolean {
  const all =
    text
      .slice(0, READ_CHARACTERS)
      .toLowerCase()
      .match(/\p{L}+/gu) ?? [];
  return all.filter((word) => FREQUENT.has(word)).length >= FREQUENT_SHARE * all.length;
}
