import { z } from "zod";
import type { ModelOutcome } from "./model-port.ts";

/** Far more than any model takes; what is beyond is told wrongly. */
const MOST_TOKENS = 100_000_000;
const tokens = z.int().min(0).max(MOST_TOKENS);

/** Parts that are no text, such as what a model thought before it answered, are left out. */
const parts = z
  .array(z.object({ type: z.string(), text: z.string().nullish() }))
  .transform((all) => all.map(({ type, text }) => (type === "text" ? (text ?? "") : "")).join(""));

/** What we use of a chat completion; servers differ in what else they send, and in what they leave out. */
const completion = z.object({
  choices: z
    .array(
      z.object({
        finish_reason: z.string().nullish(),
        message: z.object({
          content: z.union([z.string(), parts]).nullish(),
          refusal: z.string().nullish(),
        }),
      }),
    )
    .min(1),
  // A count that cannot be is no reason to lose the answer.
  usage: z.object({ prompt_tokens: tokens, completion_tokens: tokens }).nullish().catch(null),
});

export type Completion = {
  readonly outcome: ModelOutcome;
  /** Null where the server does not tell, or tells what cannot be. */
  readonly usage: { readonly promptTokens: number; readonly completionTokens: number } | null;
};

/** Reads a server's answer; null where it is no chat completion. */
export function readCompletion(body: unknown): Completion | null {
  const parsed = completion.safeParse(body);
  const choice = parsed.data?.choices[0];
  if (choice === undefined) return null;
  const usage = parsed.data?.usage ?? null;
  return {
    outcome: outcomeOf(choice),
    usage: usage && { promptTokens: usage.prompt_tokens, completionTokens: usage.completion_tokens },
  };
}

type Choice = z.infer<typeof completion>["choices"][number];

/** A refusal is told by its kind: its words may repeat what a stranger wrote. */
function outcomeOf({ finish_reason: reason, message }: Choice): ModelOutcome {
  if (reason === "content_filter")
    return { kind: "refused", detail: "stopped by the server's content filter" };
  if (message.refusal !== null && message.refusal !== undefined && message.refusal !== "")
    return { kind: "refused", detail: "the model declined" };
  if (reason === "length") return { kind: "cut", detail: "longer than an answer may be" };
  return { kind: "text", text: message.content ?? "" };
}
