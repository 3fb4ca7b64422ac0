import { createServer, type IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { Webhook } from "standardwebhooks";

/** A delivery whose signature fits its secret. */
export type Verified = {
  readonly headers: Readonly<Record<string, string>>;
  /** As it was received, which is what is signed. */
  readonly body: string;
  readonly event: { readonly type: string; readonly data: Readonly<Record<string, unknown>> };
};

export type Receiver = {
  readonly url: string;
  /** Verified events of one type, oldest first, each once: a delivery may come twice, its webhook-id says so. */
  readonly of: (type: string) => readonly Verified[];
  readonly close: () => void;
};

/** How long a delivery may wait for the secret that it is to be verified by. */
const SECRET_MS = 5_000;

/**
 * Listens on loopback: answers 204 to what it can verify by the secret, and 400 to everything else. The secret comes with the answer
 * that makes the subscription, which the first delivery may overtake.
 */
export async function startReceiver(secret: Promise<string>): Promise<Receiver> {
  const received = new Map<string, Verified>();
  const server = createServer((request, response) => {
    verify(request, secret).then(
      (delivery) => {
        const id = delivery.headers["webhook-id"] ?? "";
        if (!received.has(id)) received.set(id, delivery);
        response.writeHead(204).end();
      },
      (error: unknown) => response.writeHead(400).end(String(error)),
    );
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The receiver has no port.");
  return {
    url: `http://127.0.0.1:${address.port}/agent-health`,
    of: (type) => [...received.values()].filter(({ event }) => event.type === type),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** A delivery with its event; throws where the signature does not fit, or the delivery is more than five minutes old. */
async function verify(request: IncomingMessage, secret: Promise<string>): Promise<Verified> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks).toString("utf8");
  const headers = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
  );
  const known = await Promise.race([secret, sleep(SECRET_MS, null, { ref: false })]);
  if (known === null) throw new Error("There is no secret yet.");
  // It returns the parsed body; the schema of each event is in /openapi.json under webhooks.
  const event = new Webhook(known).verify(body, headers) as Verified["event"];
  return { headers, body, event };
}
