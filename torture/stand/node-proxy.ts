import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { pick, type Random } from "../random.ts";

/** How a node treats those who ask it; the share of refused requests is from 0 to 1. */
export type NodeMode =
  | { readonly kind: "well" }
  | { readonly kind: "gone" }
  | { readonly kind: "limited"; readonly share: number }
  | { readonly kind: "slow"; readonly ms: number }
  /** Answers some requests with what hosted nodes say of a trouble of their own. */
  | { readonly kind: "troubled"; readonly share: number };

/** Status, code and words of trouble that passes, as proxyd (the proxy of OP stack nodes), QuickNode and others answer. */
const TROUBLE = [
  [503, -32011, "no backend is currently healthy to serve traffic"],
  [200, -32012, "credits limited to 6000/sec"],
  [500, -32013, "backend returned an invalid response"],
  [429, -32016, "over rate limit"],
  [503, -32018, "backend is currently not healthy to serve traffic"],
  [400, -32019, "block is out of range"],
] as const;

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
      case "troubled": {
        if (random() >= mode.share) break;
        disturbed += 1;
        const [status, code, message] = pick(random, TROUBLE);
        incoming.resume();
        outgoing.writeHead(status, { "content-type": "application/json" });
        outgoing.end(JSON.stringify({ jsonrpc: "2.0", id: null, error: { code, message } }));
        return;
      }
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
