import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "../random.ts";

/** How a node treats those who ask it; the share of refused requests is from 0 to 1. */
export type NodeMode =
  | { readonly kind: "well" }
  | { readonly kind: "gone" }
  | { readonly kind: "limited"; readonly share: number }
  | { readonly kind: "slow"; readonly ms: number };

/** A proxy between our processes and a node. It can be down, be slow, or limit its callers. */
export async function startNodeProxy(target: string, random: Random) {
  let upstream = new URL(target);
  let mode: NodeMode = { kind: "well" };
  let disturbed = 0;
  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    switch (mode.kind) {
      case "well":
        break;
      case "gone":
        disturbed += 1;
        incoming.socket.destroy();
        return;
      case "limited":
        if (random() >= mode.share) break;
        disturbed += 1;
        incoming.resume();
        outgoing.writeHead(429, { "retry-after": "1", "content-type": "application/json" });
        outgoing.end('{"jsonrpc":"2.0","id":null,"error":{"code":-32005,"message":"rate limited"}}');
        return;
      case "slow":
        disturbed += 1;
        await sleep(mode.ms);
    }
    forward(upstream, incoming, outgoing);
  };
  const server = createServer((incoming, outgoing) => void answer(incoming, outgoing));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    become: (next: NodeMode) => {
      mode = next;
      if (next.kind === "gone") server.closeAllConnections();
    },
    /** From now on another node answers. */
    retarget: (url: string) => {
      upstream = new URL(url);
    },
    /** Requests that were refused, dropped or delayed so far. */
    disturbed: () => disturbed,
    close: async () => {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function forward(upstream: URL, incoming: IncomingMessage, outgoing: ServerResponse): void {
  const sent = request(
    {
      hostname: upstream.hostname,
      port: upstream.port,
      method: incoming.method,
      path: incoming.url,
      headers: incoming.headers,
    },
    (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(outgoing);
    },
  );
  // A node that is replaced drops its callers.
  sent.on("error", () => outgoing.destroy());
  outgoing.on("close", () => sent.destroy());
  incoming.pipe(sent);
}
