import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";

/** A port of the loopback interface that nothing listened on a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** Throws a readable error when something already listens on the port. */
export async function requireFreePort(host: string, port: number): Promise<void> {
  const server = createServer().listen(port, host);
  try {
    await once(server, "listening");
  } catch (error) {
    throw new Error(`port ${port} of ${host} is taken: stop what listens there, or choose another --port`, {
      cause: error,
    });
  }
  server.close();
  await once(server, "close");
}
