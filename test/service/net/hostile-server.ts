import { once } from "node:events";
import { createServer as createHttpServer, type RequestListener } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import type { Identity } from "./test-certificates.ts";

export type TestServer = { readonly port: number; readonly close: () => Promise<void> };

/** The port of a server, which ends with the test. */
export async function started(server: Promise<TestServer>): Promise<number> {
  const { port, close } = await server;
  onTestFinished(close);
  return port;
}

/** An HTTP server on an address of loopback. */
export function serveHttp(listener: RequestListener, address = "127.0.0.1"): Promise<TestServer> {
  return listen(createHttpServer(listener), address);
}

/** An HTTPS server on an address of loopback, showing the given certificate whatever name it is asked for. */
export function serveHttps(
  identity: Identity,
  listener: RequestListener,
  address = "127.0.0.1",
): Promise<TestServer> {
  return listen(
    createHttpsServer({ key: identity.privateKey, cert: identity.certificate }, listener),
    address,
  );
}

/** A server that does with each connection what the test says, HTTP or not. */
export function serveTcp(onConnection: (socket: Socket) => void): Promise<TestServer> {
  return listen(
    createTcpServer((socket) => {
      socket.on("error", () => socket.destroy());
      onConnection(socket);
    }),
    "127.0.0.1",
  );
}

async function listen(server: Server, address: string): Promise<TestServer> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  server.listen(0, address);
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
