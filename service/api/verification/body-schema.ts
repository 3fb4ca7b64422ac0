import { z } from "@hono/zod-openapi";
import { echoInput, type ValidationFault, valueFault } from "../kit/validation-failed.ts";
import { addressSchema } from "../schemas/values.ts";

/** Schema of an address in a body. */
export const bodyAddress = (description: string) =>
  addressSchema.openapi({
    type: "string",
    pattern: "^0x[0-9a-fA-F]{40}$",
    description,
    example: "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
  });

/** A fault of a body member that its schema cannot express. */
export function fault(name: string, input: unknown, error: string): ValidationFault {
  return valueFault(["body", name], echoInput(input), error);
}

/** Longest text in Unicode code points, as pydantic counts them. */
export const MAX_TEXT_CHARACTERS = 200_000;

/**
 * A string that can be stored and hashed unchanged: at most `maximum` code points, without unpaired surrogates, which UTF-8 cannot encode,
 * and without U+0000, which PostgreSQL refuses.
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

/** Returns why a string cannot be stored unchanged; null if it can. */
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
