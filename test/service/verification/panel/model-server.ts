import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { RoleName } from "../../../../service/verification/panel/types.ts";

/** A request that the server received. */
export type Call = {
  /** Of the line `Role:`; of a question to no role, undefined. */
  readonly role: RoleName;
  /** From 1 on, of this role. */
  readonly number: number;
  readonly path: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: CallBody;
};

type CallBody = {
  readonly model?: string;
  readonly messages?: readonly { readonly role: string; readonly content: string }[];
  readonly response_format?: { readonly type: string; readonly json_schema?: { readonly name: string } };
  readonly [member: string]: unknown;
};

/** Answers a request, or leaves it open. */
export type Respond = (response: ServerResponse) => void;

/** A loopback server with part of OpenAI's interface. `respond` answers each call. */
export async function startModelServer(respond: (call: Call) => Respond) {
  const calls: Call[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const body = JSON.parse(Buffer.concat(chunks).toString() || "{}") as CallBody;
    // The tests ask for no other roles.
    const role = /^Role: (\w+)$/m.exec(body.messages?.[0]?.content ?? "")?.[1] as RoleName;
    const number = calls.filter((call) => call.role === role).length + 1;
    const call = { role, number, path: request.url, headers: request.headers, body };
    calls.push(call);
    respond(call)(response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    calls,
    callsOf: (role: RoleName) => calls.filter((call) => call.role === role),
    close: async () => {
      if (!server.listening) return;
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

export type ModelServer = Awaited<ReturnType<typeof startModelServer>>;

/** A body with a status and headers. */
export function send(body: unknown, status = 200, headers: Record<string, string> = {}): Respond {
  return (response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  };
}

/** An error as OpenAI's interface words it. */
export function refuse(status: number, message: string, headers: Record<string, string> = {}): Respond {
  return send({ error: { message, type: "error", code: null, param: null } }, status, headers);
}

const USAGE = { prompt_tokens: 1_000, completion_tokens: 100, total_tokens: 1_100 };

/** A chat completion with an answer, as JSON unless it is a text already. */
export function complete(
  content: unknown,
  choice: object = {},
  message: object = {},
  usage: object = USAGE,
): Respond {
  const text = typeof content === "string" ? content : JSON.stringify(content);
  return send({
    id: "chatcmpl-1",
    object: "chat.completion",
    choices: [
      {
        index: 0,
        finish_reason: "stop",
        message: { role: "assistant", content: text, ...message },
        ...choice,
      },
    ],
    usage,
  });
}

/** Nothing, ever. */
export const stayOpen: Respond = () => undefined;
