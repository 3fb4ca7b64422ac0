import type { ScriptedModel } from "../../../devnet/scripted-model/start-scripted-model.ts";

/** No part of it comes twice, so that what a removal joins is seen. */
export const MARKER = "3f9c0b7a61d2e84512ab90ce7fd6348e";

/** Texts by label, as the panel fences them. */
export function fenced(blocks: Readonly<Record<string, string>>): string {
  return Object.entries(blocks)
    .map(([label, text]) => `=== BEGIN ${label} ${MARKER} ===\n${text}\n=== END ${label} ${MARKER} ===`)
    .join("\n\n");
}

type Asked = { user: string; role?: string; system?: string; extra?: object };

/** Sends one question of the panel, and answers the HTTP response. */
export function ask(model: ScriptedModel, { user, role = "domain_expert", system = "", extra }: Asked) {
  return fetch(`${model.baseUrl}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      model: model.model,
      messages: [
        {
          role: "system",
          content: `Role: ${role}\nFence: ${MARKER}\nYou judge what was delivered.\n${system}`,
        },
        { role: "user", content: user },
      ],
      ...extra,
    }),
  });
}

/** The JSON in the answer to one question. */
export async function answerTo(model: ScriptedModel, asked: Asked) {
  const body = await completionTo(model, asked);
  return JSON.parse(body.choices[0]?.message.content ?? "null");
}

/** The completion that answers one question. */
export async function completionTo(model: ScriptedModel, asked: Asked) {
  const response = await ask(model, asked);
  if (!response.ok) throw new Error(`answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as {
    readonly choices: readonly {
      readonly message: { readonly content: string | null; readonly refusal: string | null };
      readonly finish_reason: string;
    }[];
    readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number };
  };
}
