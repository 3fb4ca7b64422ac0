import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { getRequestListener } from "@hono/node-server";
import { envelopeHeaders } from "../../service/api/envelope.ts";
import { Problem, type ProblemCode } from "../../service/api/problems.ts";
import type { ServerEnding } from "../../service/api/server-life.ts";

/** How long a client may take, and how much it may send before anything of ours reads it. */
export type ServerLimits = {
  /** Until its header is there. */
  readonly headersMs: number;
  /** Until its body is there as well. */
  readonly requestMs: number;
  /** Until the next request on the same connection begins. */
  readonly keepAliveMs: number;
  /** Between two looks at who is too slow. */
  readonly checkMs: number;
  /** Of all header lines of a request together. */
  readonly headerBytes: number;
};

export const SERVER_LIMITS: ServerLimits = {
  headersMs: 10_000,
  requestMs: 30_000,
  keepAliveMs: 15_000,
  checkMs: 2_000,
  // A payment header may have 8 KiB.
  headerBytes: 16 * 1024,
};

type Fetch = Parameters<typeof getRequestListener>[0];

/** Listens at a host and port; what is no request, too large or too slow is refused as everything else is. */
export async function startHttpServer(
  fetch: Fetch,
  at: { readonly host: string; readonly port: number },
  limits: ServerLimits,
): Promise<Server> {
  const server = createServer(
    {
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      keepAliveTimeout: limits.keepAliveMs,
      connectionsCheckingInterval: limits.checkMs,
      maxHeaderSize: limits.headerBytes,
    },
    getRequestListener(fetch, {
      hostname: at.host,
      errorHandler: () => {
        const { status, headers, body } = rawRefusal("request-malformed", "Target and Host are no URL.");
        return new Response(body, { status, headers });
      },
    }),
  );
  server.on("clientError", refuseRaw);
  server.listen(at.port, at.host);
  await once(server, "listening");
  return server;
}

/** What never becomes a request is answered on the bare socket. */
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

export type DrainTimes = {
  /** For whatever is under way. */
  readonly finishMs: number;
  /** After that, for what is being paid for. */
  readonly settleMs: number;
};

const IDLE_CHECK_MS = 50;
const SEND_MS = 1_000;

/**
 * Ends a server: takes nothing new, lets what is under way finish, then gives up what is not paid for, then cuts what is left.
 * Resolves once no connection is open and no request is under way.
 */
export async function drainServer(
  server: Server,
  life: ServerEnding,
  { finishMs, settleMs }: DrainTimes,
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
