import { z } from "@hono/zod-openapi";

/** Characters of a text at most: Unicode code points, as pydantic counts them. */
export const MAX_TEXT_CHARACTERS = 200_000;

/**
 * A string that can be stored and hashed as it is: at most so many code points, without the halves of surrogate pairs that UTF-8 has
 * no form for, and without U+0000, which PostgreSQL refuses.
 */
export function textSchema(maximum: number) {
  return z.string().check((context) => {
    const { value, issues } = context;
    if (isLonger(value, maximum)) {
      issues.push({
        code: "too_big",
        origin: "string",
        maximum,
        inclusive: true,
        input: value,
        continue: false,
      });
      return;
    }
    const fault = faultOf(value);
    if (fault !== null) issues.push({ code: "custom", message: fault, input: value });
  });
}

/** A text that may not be empty. */
export function filledTextSchema(maximum: number) {
  return z.string().min(1).pipe(textSchema(maximum));
}

/** Why a string cannot be kept as it is; null where it can. */
function faultOf(text: string): string | null {
  if (text.includes("\0")) return "the text holds the character U+0000, which cannot be kept";
  return text.isWellFormed() ? null : "the text holds half of a surrogate pair, which is no character";
}

function isLonger(text: string, maximum: number): boolean {
  if (text.length <= maximum) return false;
  // A code point takes two units at most.
  if (text.length > 2 * maximum) return true;
  let characters = 0;
  for (const _character of text) characters += 1;
  return characters > maximum;
}
