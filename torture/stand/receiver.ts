import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

/** One delivery as it arrived. */
export type Delivery = { readonly path: string; readonly id: string; readonly body: string };

/** Takes webhooks on loopback, answers 204 and forgets nothing. */
export async function startReceiver() {
  const deliveries: Delivery[] = [];
  const server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    // A sender that dies in the middle has delivered nothing.
    incoming.on("error", () => undefined);
    incoming.on("end", () => {
      deliveries.push({
        path: incoming.url ?? "",
        id: idOf(incoming),
        body: Buffer.concat(chunks).toString(),
      });
      outgoing.writeHead(204).end();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Everything that arrived, oldest first, repeats included. */
    deliveries: (): readonly Delivery[] => deliveries,
    close: async () => {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function idOf({ headers }: IncomingMessage): string {
  const id = headers["webhook-id"];
  return typeof id === "string" ? id : "";
}
