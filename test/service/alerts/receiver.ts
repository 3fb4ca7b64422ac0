import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { serveHttp } from "../net/hostile-server.ts";

export type Received = { readonly headers: Record<string, string>; readonly body: string };

/** How a delivery is answered: by a status, or not as it should be. */
export type Answer =
  | number
  | "hang"
  | "hang up"
  | "slow"
  | "endless"
  | { readonly status: number; readonly headers: Record<string, string> };

export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

const SLOW_MS = 30;

/** A receiver of webhooks on loopback, which answers 204 unless the test says otherwise. */
export async function startReceiver() {
  const received = new Map<string, Received[]>();
  const planned = new Map<string, Answer[]>();
  const refused = new Map<string, string>();
  const open = new Map<string, number>();
  const most = new Map<string, number>();
  const listen = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = request.url ?? "";
    open.set(path, (open.get(path) ?? 0) + 1);
    most.set(path, Math.max(most.get(path) ?? 0, open.get(path) ?? 0));
    response.once("close", () => open.set(path, (open.get(path) ?? 1) - 1));
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    received.set(path, [...(received.get(path) ?? []), { headers: headersOf(request), body }]);
    const isRefused = refused.has(path) && body.includes(refused.get(path) ?? "");
    await reply(response, isRefused ? 500 : (planned.get(path)?.shift() ?? 204));
  };
  const server = await serveHttp(
    (request, response) => void listen(request, response).catch(() => undefined),
  );
  return {
    baseUrl: `http://127.0.0.1:${server.port}`,
    close: server.close,
    /** Deliveries that arrived at a path, oldest first. */
    at: (path: string): readonly Received[] => received.get(path) ?? [],
    /** Deliveries to a path that are under way. */
    underWay: (path: string): number => open.get(path) ?? 0,
    /** How many deliveries to a path were under way at once. */
    most: (path: string): number => most.get(path) ?? 0,
    /** The next answers of a path. */
    answer: (path: string, answers: readonly Answer[]): void => {
      planned.set(path, [...answers]);
    },
    /** Every delivery to a path is answered 500 from now on. */
    refuse: (path: string): void => {
      refused.set(path, "");
    },
    /** The same for those whose body holds a text. */
    refuseOnly: (path: string, text: string): void => {
      refused.set(path, text);
    },
  };
}

async function reply(response: ServerResponse, answer: Answer): Promise<void> {
  if (typeof answer === "number") {
    response.writeHead(answer).end();
    return;
  }
  if (typeof answer === "object") {
    response.writeHead(answer.status, answer.headers).end();
    return;
  }
  switch (answer) {
    case "hang":
      return;
    case "hang up":
      response.destroy();
      return;
    case "endless":
      response.writeHead(200);
      response.write("x");
      return;
    case "slow":
      await sleep(SLOW_MS);
      response.writeHead(204).end();
  }
}

function headersOf(request: IncomingMessage): Record<string, string> {
  return Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
}
