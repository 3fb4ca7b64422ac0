import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type ChatTemplate, readTurns, type Turn } from "./chat-templates.ts";

/** How a server changes a text before it reads control tokens. */
export type Normaliser = (text: string) => string;

/** Tokens of ordinary text: words, digits, and signs by twos, each with the space before it. */
const PIECES = / ?\p{L}+| ?\d| ?[^\s\p{L}\d]{1,2}|\s/gu;

/**
 * A scripted server of an open model before the scripted model: it writes each conversation by a chat template, reads control tokens anywhere
 * in the result, as servers of open models do, and asks the scripted model with the turns that it read. Each control token counts as one.
 */
export async function startTurnServer(of: {
  readonly template: ChatTemplate;
  readonly baseUrl: string;
  readonly normalise?: Normaliser;
}) {
  const { template, baseUrl, normalise = (text: string) => text } = of;
  const turns: { sent: number; read: number }[] = [];
  const server = createServer(async (request, response) => {
    if (request.method !== "POST") {
      response.writeHead(404).end();
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const body = JSON.parse(Buffer.concat(chunks).toString()) as { messages: readonly Turn[] };
    const written = body.messages.map((turn) =>
      template.write({ ...turn, content: normalise(turn.content) }),
    );
    const rendered = written.join("");
    const messages = readTurns(template, rendered);
    turns.push({ sent: body.messages.length, read: messages.length });
    const asked = await fetch(`${baseUrl}/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ...body, messages }),
    });
    const answer = (await asked.json()) as { usage?: object };
    const usage = { ...answer.usage, prompt_tokens: countTokens(template, rendered) };
    response.writeHead(asked.status, { "content-type": "application/json" });
    response.end(JSON.stringify(asked.ok ? { ...answer, usage } : answer));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    /** Turns of each call since the last time, as they were sent and as they were read. */
    takeTurns: () => turns.splice(0),
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** Each control token counts as the line end that takes its place. */
function countTokens({ tokens }: ChatTemplate, rendered: string): number {
  const text = tokens.reduce((rest, token) => rest.replaceAll(token.trim(), "\n"), rendered);
  return text.match(PIECES)?.length ?? 0;
}
