import { isInvisibleAt } from "./check-invisible.ts";

/** A character that shows nothing to a reader. */
export type InvisibleCharacter = {
  /** As U+200B. */
  readonly name: string;
  /** How many characters stand before it. */
  readonly after: number;
};

/** The first invisible character of a text; null where there is none. */
export function findInvisible(text: string): InvisibleCharacter | null {
  let after = 0;
  for (let index = 0; index < text.length; ) {
    const point = text.codePointAt(index) ?? 0;
    if (isInvisibleAt(text, index)) return { name: nameOf(point), after };
    index += point > 0xffff ? 2 : 1;
    after += 1;
  }
  return null;
}

function nameOf(point: number): string {
  return `U+${point.toString(16).toUpperCase().padStart(4, "0")}`;
}
