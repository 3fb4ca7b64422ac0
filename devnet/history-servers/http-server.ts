import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { gzipSync } from "node:zlib";

/** Misbehaviour of a server in one answer. */
export type Fault =
  | { readonly kind: "status"; readonly status: number; readonly headers?: Readonly<Record<string, string>> }
  /** The connection breaks within the body. */
  | { readonly kind: "cut" }
  /** The body ends in its middle, as if it were whole. */
  | { readonly kind: "short" }
  | { readonly kind: "replace"; readonly body: string }
  /** No answer. */
  | { readonly kind: "hang" };

/** The fault of a request, counted from 0; null for none. */
export type FaultOf = (request: number) => Fault | null;

type Asked = { readonly path: string; readonly headers: IncomingMessage["headers"]; readonly body: string };
export type Answered = {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
};

/** A history server on loopback. */
export type HistoryServer = {
  readonly origin: string;
  /** Requests so far. */
  readonly requests: () => number;
  readonly close: () => Promise<void>;
};

/** Serves answers, gzipped if the protocol says so, on a free port of loopback unless one is given. */
export async function serveAnswers(
  answer: (asked: Asked) => Promise<Answered>,
  options: { readonly gzip: boolean; readonly port?: number; readonly faultOf?: FaultOf | undefined },
): Promise<HistoryServer> {
  let requests = 0;
  const server = createServer(async (request, response) => {
    const fault = options.faultOf?.(requests) ?? null;
    requests += 1;
    const body = (await buffer(request)).toString("utf8");
    if (fault?.kind === "hang") return;
    const honest = await answer({ path: request.url ?? "/", headers: request.headers, body }).catch(
      (error: unknown) => ({ status: 500, body: String(error) }),
    );
    send(response, faulty(honest, fault), { gzip: options.gzip, isCut: fault?.kind === "cut" });
  });
  server.listen(options.port ?? 0, "127.0.0.1");
  await once(server, "listening");
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: () => requests,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function faulty(honest: Answered, fault: Fault | null): Answered {
  switch (fault?.kind) {
    case "status":
      return {
        status: fault.status,
        body: "",
        ...(fault.headers === undefined ? {} : { headers: fault.headers }),
      };
    case "short":
      return { ...honest, body: honest.body.slice(0, Math.floor(honest.body.length / 2)) };
    case "replace":
      return { ...honest, body: fault.body };
    case "cut":
    case "hang":
    case undefined:
      return honest;
  }
}

function send(
  response: ServerResponse,
  { status, headers, body }: Answered,
  { gzip, isCut }: { readonly gzip: boolean; readonly isCut: boolean },
): void {
  const isZipped = gzip && status === 200;
  response.writeHead(status, { ...headers, ...(isZipped ? { "content-encoding": "gzip" } : {}) });
  if (status === 204) {
    response.end();
    return;
  }
  const bytes = isZipped ? gzipSync(body, { level: 1 }) : Buffer.from(body);
  if (!isCut) response.end(bytes);
  else response.write(bytes.subarray(0, Math.floor(bytes.length / 2)), () => response.destroy());
}
