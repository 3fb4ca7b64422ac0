import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Limits of one connection and of one address. */
export const CONNECTION_LIMITS = {
  /**
   * Requests of one connection that wait for the answer to the one before; the next one is refused and ends the connection.
   * Browsers and proxies send one at a time.
   */
  waiting: 64,
  /** Requests sent after that one: their objects, of 1.5 kB each, stay until the connection has ended. */
  ignored: 256,
  /** Milliseconds in which a client takes none of the bytes that it was sent. */
  unreadMs: 20_000,
  /** Milliseconds for the whole of a finished answer: 10 MB at 35 kB/s. */
  answerMs: 300_000,
  /** Connections of this process, at 64 kB of unread requests each, 800 kB with their objects. */
  connections: 4_000,
  /** Connections of one address that is no trusted proxy. */
  connectionsPerAddress: 500,
};

/** crowded: too many requests at once; unread, slow: answers that the client does not take; connections: one too many. */
export type DropReason = "crowded" | "unread" | "slow" | "connections";

export type ConnectionPorts = {
  readonly limits: typeof CONNECTION_LIMITS;
  /** The address that a socket's connections are counted for; null for one that is not counted. */
  readonly countedAddress: (socket: Socket) => string | null;
  readonly handle: (incoming: IncomingMessage, outgoing: ServerResponse) => void;
  /** Answers a request that is one too many and ends its connection. */
  readonly refuse: (incoming: IncomingMessage, outgoing: ServerResponse) => void;
  readonly onDrop: (reason: DropReason) => void;
};

/** Answers a server's requests one at a time per connection, and ends connections that exceed their limits. */
export function limitConnections(server: Server, ports: ConnectionPorts): void {
  const { limits, onDrop } = ports;
  // One request of a connection is worked on, and the others wait in their order.
  const queues = new WeakMap<
    Socket,
    { readonly waiting: (() => void)[]; isBusy: boolean; ignored: number }
  >();
  server.maxConnections = limits.connections;
  server.on("drop", () => onDrop("connections"));
  countByAddress(server, ports);
  server.timeout = limits.unreadMs;
  // Node counts progress of what it sends as activity.
  server.on("timeout", (socket: Socket) => {
    if (socket.writableLength === 0 && queues.get(socket)?.isBusy) {
      socket.setTimeout(limits.unreadMs);
      return;
    }
    if (socket.writableLength > 0) onDrop("unread");
    socket.destroy();
  });
  server.on("request", (incoming, outgoing) => {
    const { socket } = incoming;
    const queue = queues.get(socket) ?? { waiting: [], isBusy: false, ignored: 0 };
    queues.set(socket, queue);
    if (queue.ignored > 0) {
      queue.ignored += 1;
      if (queue.ignored > limits.ignored) socket.destroy();
      return;
    }
    const isCrowded = queue.waiting.length >= limits.waiting;
    if (isCrowded) {
      queue.ignored = 1;
      onDrop("crowded");
    }
    queue.waiting.push(() => (isCrowded ? ports.refuse : ports.handle)(incoming, outgoing));
    outgoing.once("close", () => {
      queue.isBusy = false;
      // Other connections get their turn between two requests of one.
      setImmediate(advance);
    });
    endSlowAnswer(outgoing, ports);
    advance();

    function advance(): void {
      if (socket.destroyed) queue.waiting.length = 0;
      if (queue.isBusy) return;
      const next = queue.waiting.shift();
      queue.isBusy = next !== undefined;
      next?.();
    }
  });
}

/** Ends the connection of an answer that is complete and takes too long to be read. */
function endSlowAnswer(outgoing: ServerResponse, { limits, onDrop }: ConnectionPorts): void {
  outgoing.once("prefinish", () => {
    const { socket } = outgoing;
    if (socket === null || socket.writableLength === 0) return;
    const timer = setTimeout(() => {
      onDrop("slow");
      socket.destroy();
    }, limits.answerMs);
    outgoing.once("close", () => clearTimeout(timer));
  });
}

function countByAddress(server: Server, { limits, countedAddress, onDrop }: ConnectionPorts): void {
  const open = new Map<string, number>();
  server.on("connection", (socket) => {
    const address = countedAddress(socket);
    if (address === null) return;
    const count = (open.get(address) ?? 0) + 1;
    open.set(address, count);
    socket.once("close", () => {
      const left = (open.get(address) ?? 1) - 1;
      if (left === 0) open.delete(address);
      else open.set(address, left);
    });
    if (count <= limits.connectionsPerAddress) return;
    onDrop("connections");
    socket.destroy();
  });
}
