import { Agent, request } from "node:http";
import type { FuzzAnswer } from "./check-answer.ts";
import type { FuzzRequest } from "./request-from-operation.ts";

const GIVEN_UP_MS = 20_000;

/** Sends requests as they are, which fetch would tidy up; one without an answer throws. */
export function createSender(baseUrl: string) {
  const { hostname, port } = new URL(baseUrl);
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  const send = ({ method, target, headers, body }: FuzzRequest): Promise<FuzzAnswer> => {
    const started = performance.now();
    return new Promise((resolve, reject) => {
      const sent = request(
        {
          hostname,
          port,
          agent,
          method,
          path: target,
          headers: withLength(headers, body),
          timeout: GIVEN_UP_MS,
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.on("error", reject);
          response.on("end", () =>
            resolve({
              status: response.statusCode ?? 0,
              headers: new Headers(response.headers as Record<string, string>),
              body: Buffer.concat(chunks).toString(),
              ms: performance.now() - started,
            }),
          );
        },
      );
      sent.on("timeout", () => sent.destroy(new Error(`no answer within ${GIVEN_UP_MS} ms`)));
      sent.on("error", reject);
      sent.end(body ?? undefined);
    });
  };
  return { send, close: () => agent.destroy() };
}

function withLength(headers: Readonly<Record<string, string>>, body: string | null): Record<string, string> {
  return body === null ? { ...headers } : { ...headers, "content-length": String(Buffer.byteLength(body)) };
}
