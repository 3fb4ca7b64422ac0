import { z } from "zod";
import type { ModelOutcome } from "./model-port.ts";

/** What we use of a chat completion; servers differ in what else they send, and in what they leave out. */
const completion = z.object({
  choices: z
    .array(
      z.object({
        finish_reason: z.string().nullish(),
        message: z.object({ content: z.string().nullish(), refusal: z.string().nullish() }),
      }),
    )
    .min(1),
  usage: z.object({ prompt_tokens: z.int().min(0), completion_tokens: z.int().min(0) }).nullish(),
});

export type Completion = {
  readonly outcome: ModelOutcome;
  /** Null where the server does not tell. */
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
