import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from "node:http";
import type { Duplex } from "node:stream";
import { getRequestListener } from "@hono/node-server";
import type { Logger } from "pino";
import { connectionAddress, type TrustedProxies } from "../../service/access/client-address.ts";
import { Problem, type ProblemCode } from "../../service/access/problems.ts";
import { envelopeHeaders } from "../../service/api/kit/envelope.ts";
import type { ServerEnding } from "../../service/api/kit/server-life.ts";
import { CONNECTION_LIMITS, type ConnectionPorts, limitConnections } from "./connection-limits.ts";

export type ServerLimits = typeof SERVER_LIMITS;

/** How long a client may take, and how much it may send before anything of ours reads it. */
export const SERVER_LIMITS = {
  ...CONNECTION_LIMITS,
  /** Until its header is there. */
  headersMs: 10_000,
  /** Until its body is there as well. */
  requestMs: 30_000,
  /** Until the next request on the same connection begins. */
  keepAliveMs: 15_000,
  /** Between two looks at who is too slow. */
  checkMs: 2_000,
  /** Of all header lines of a request together. A payment header may have 12 KiB. */
  headerBytes: 16 * 1024,
  /** Of path and query of a request. A 402 repeats the URL in base64 twice over, and clients take 16 KiB of header lines. */
  targetBytes: 4 * 1024,
};

/** Listens at a host and port; what is no request, too large or too slow is refused as everything else is. */
export async function startHttpServer(
  fetch: Parameters<typeof getRequestListener>[0],
  {
    host,
    port,
    limits,
    trustedProxies,
    onDrop,
  }: Pick<ConnectionPorts, "onDrop"> & {
    readonly host: string;
    readonly port: number;
    readonly limits: ServerLimits;
    readonly trustedProxies: TrustedProxies;
  },
): Promise<Server> {
  const server = createServer({
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.keepAliveMs,
    connectionsCheckingInterval: limits.checkMs,
    maxHeaderSize: limits.headerBytes,
    // Refused below, as everything else is.
    requireHostHeader: false,
  });
  const listener = getRequestListener(fetch, {
    hostname: host,
    errorHandler: () => {
      const { status, headers, body } = NO_URL();
      return new Response(body, { status, headers });
    },
  });
  limitConnections(server, {
    limits,
    onDrop,
    countedAddress: ({ remoteAddress }) => connectionAddress(remoteAddress, trustedProxies),
    handle: (incoming, outgoing) => {
      const refusal = refusalOfRequest(incoming, limits);
      if (refusal === null) void listener(incoming, outgoing);
      else refuse(outgoing, refusal);
    },
    refuse: (_incoming, outgoing) =>
      refuse(
        outgoing,
        rawRefusal("connection-crowded", `More than ${limits.waiting} requests wait on this connection.`),
      ),
  });
  server.on("clientError", refuseRaw);
  server.listen(port, host);
  await once(server, "listening");
  return server;
}

const DESCRIPTORS_MS = 1_000;

/**
 * Logs while no file descriptor is free, until the server closes. The system then ends new connections, which Node
 * does not report.
 */
export function watchDescriptors(server: Server, logger: Pick<Logger, "error">): void {
  const warn = (error: unknown) =>
    logger.error({ err: error }, "connections cannot be accepted: see the limit of open files (ulimit -n)");
  // The system's own answer, where it gives one.
  server.on("error", warn);
  const timer = setInterval(() => {
    try {
      closeSync(openSync("/dev/null", "r"));
    } catch (error) {
      warn(error);
    }
  }, DESCRIPTORS_MS);
  server.once("close", () => clearInterval(timer));
}

/** Null for a request whose target and Host can be read. */
function refusalOfRequest(
  incoming: IncomingMessage,
  { targetBytes }: ServerLimits,
): ReturnType<typeof rawRefusal> | null {
  if ((incoming.url ?? "").length > targetBytes)
    return rawRefusal("target-too-long", `Path and query exceed ${targetBytes} bytes.`);
  const hosts = incoming.rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === "host");
  const isNeeded = incoming.httpVersion === "1.1";
  if (hosts.length > 1 || (isNeeded && hosts.length === 0))
    return rawRefusal("request-malformed", `Expected one Host, got ${hosts.length}.`);
  const { host } = incoming.headers;
  return host === undefined || URL.canParse(`http://${host}/`) ? null : NO_URL();
}

const NO_URL = () => rawRefusal("request-malformed", "Target and Host are no URL.");

function refuse(outgoing: ServerResponse, { status, headers, body }: ReturnType<typeof rawRefusal>): void {
  outgoing.writeHead(status, { ...headers, connection: "close" }).end(body);
}

/** Bytes that never become a request are answered on the bare socket. */
function refuseRaw(error: Error & { readonly code?: string }, socket: Duplex): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status, headers, body } = refusalOf(error.code);
  const lines = Object.entries({ ...headers, "content-length": String(Buffer.byteLength(body)) }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}connection: close\r\n\r\n${body}`,
  );
}

function refusalOf(code: string | undefined) {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return rawRefusal("headers-too-large", "The header lines of the request are too long together.");
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return rawRefusal("request-timeout", "The request was not sent to its end in time.");
    default:
      return rawRefusal("request-malformed", "This is no HTTP request.");
  }
}

function rawRefusal(code: ProblemCode, detail: string) {
  const requestId = randomUUID();
  const problem = new Problem(code, detail);
  return {
    status: problem.status,
    headers: {
      ...envelopeHeaders(requestId),
      "access-control-allow-origin": "*",
      "content-type": "application/problem+json",
    },
    body: JSON.stringify(problem.render({ instance: "", requestId })),
  };
}

const IDLE_CHECK_MS = 50;
const SEND_MS = 1_000;

/**
 * Ends a server: takes nothing new, lets what is under way finish, then gives up what is not paid for, then cuts what is left.
 * Resolves once no connection is open and no request is under way.
 */
export async function drainServer(
  server: Server,
  life: ServerEnding,
  {
    finishMs,
    settleMs,
  }: {
    /** For whatever is under way. */
    readonly finishMs: number;
    /** After that, for what is being paid for. */
    readonly settleMs: number;
  },
): Promise<void> {
  const closed = once(server, "close");
  life.drain();
  server.close();
  const idle = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS);
  const stop = setTimeout(() => {
    life.stop();
    // Answers that were just made still have to be sent.
    void life.idle().then(() => setTimeout(() => server.closeAllConnections(), SEND_MS).unref());
  }, finishMs);
  const cut = setTimeout(() => server.closeAllConnections(), finishMs + settleMs);
  await closed;
  clearInterval(idle);
  clearTimeout(stop);
  clearTimeout(cut);
  life.stop();
  await life.idle();
}
