import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export type CuttableProxy = Awaited<ReturnType<typeof startCuttableProxy>>;

/** A proxy between a client and a server on loopback, so that a test can take the server away. */
export async function startCuttableProxy(target: string) {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let isCut = false;
  let isFrozen = false;
  const server = createServer((client) => {
    if (isCut) {
      client.destroy();
      return;
    }
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => socket.destroy());
      socket.on("close", () => sockets.delete(socket));
    }
    if (!isFrozen) client.pipe(upstream).pipe(client);
    client.on("close", () => upstream.destroy());
    upstream.on("close", () => client.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = new URL(target);
  url.hostname = "127.0.0.1";
  url.port = String((server.address() as AddressInfo).port);
  const cut = () => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  };
  return {
    /** The given URL, through the proxy. */
    url: url.href,
    /** Ends every connection and refuses new ones. */
    cut,
    restore: () => {
      isCut = false;
    },
    /** Passes nothing from now on, in either direction, and closes no connection. */
    freeze: () => {
      isFrozen = true;
      for (const socket of sockets) socket.unpipe().pause();
    },
    close: async () => {
      cut();
      server.close();
      await once(server, "close");
    },
  };
}
