import { z } from "zod";

/** Name of the model; each of its decisions carries it. */
export const SCRIPTED_MODEL = "scripted";
/** The same model by another name, for the panel of appeals. */
export const SCRIPTED_APPEAL_MODEL = "scripted-appeal";
export const SCRIPTED_MODELS = [SCRIPTED_MODEL, SCRIPTED_APPEAL_MODEL] as const;

/** How many letters count as a token. */
const LETTERS_PER_TOKEN = 4;

const textPart = z.object({ type: z.literal("text"), text: z.string() });

/** The members read of a chat completion request; others are ignored, as other servers do. */
export const completionRequest = z.object({
  model: z.string(),
  messages: z
    .array(
      z.object({
        role: z.enum(["system", "developer", "user", "assistant"]),
        content: z
          .union([z.string(), z.array(textPart)])
          .transform((content) =>
            typeof content === "string" ? content : content.map(({ text }) => text).join("\n"),
          ),
      }),
    )
    .min(1),
  response_format: z
    .discriminatedUnion("type", [
      z.object({ type: z.literal("text") }),
      z.object({ type: z.literal("json_object") }),
      z.object({ type: z.literal("json_schema"), json_schema: z.object({ name: z.string() }) }),
    ])
    .optional(),
  max_tokens: z.int().positive().nullish(),
  max_completion_tokens: z.int().positive().nullish(),
  stream: z.literal(false).nullish(),
});

export type CompletionRequest = z.infer<typeof completionRequest>;

/** A chat completion with its usage; an answer above the tokens asked for is cut, as `finish_reason` then says. */
export function completionOf(
  request: CompletionRequest,
  reply: { readonly content: string; readonly truncate: boolean } | { readonly refusal: string },
  created: { id: string; seconds: number },
) {
  const whole = "refusal" in reply ? reply.refusal : reply.content;
  const budget = request.max_completion_tokens ?? request.max_tokens ?? Number.POSITIVE_INFINITY;
  const shown = "truncate" in reply && reply.truncate ? whole.slice(0, whole.length / 2) : whole;
  const text = shown.slice(0, budget * LETTERS_PER_TOKEN);
  const prompt = tokensOf(request.messages.map(({ content }) => content).join("\n"));
  const completion = tokensOf(text);
  return {
    id: `chatcmpl-${created.id}`,
    object: "chat.completion",
    created: created.seconds,
    model: SCRIPTED_MODEL,
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: "refusal" in reply ? null : text,
          refusal: "refusal" in reply ? text : null,
        },
        finish_reason: text.length < whole.length ? "length" : "stop",
        logprobs: null,
      },
    ],
    usage: { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion },
  };
}

function tokensOf(text: string): number {
  return Math.ceil(text.length / LETTERS_PER_TOKEN);
}

/** An error in the form of OpenAI's API. */
export function errorBody(message: string, code: string, param: string | null = null) {
  return { error: { message, type: "invalid_request_error", param, code } };
}
