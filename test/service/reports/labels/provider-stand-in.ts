import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A request that the scripted vendor received. */
type Asked = {
  readonly method: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
};

/** A scripted vendor of labels, on the loopback interface. It returns the given answer to every request. */
export async function startProviderStandIn(answer: (response: ServerResponse) => void) {
  const asked: Asked[] = [];
  let current = answer;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString() || "null");
    asked.push({ method: request.method, headers: request.headers, body });
    current(response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/api/v1/profiler/address/labels`,
    asked,
    answerWith: (next: (response: ServerResponse) => void) => {
      current = next;
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** An answer of this status with this body. */
export function json(body: unknown, status = 200): (response: ServerResponse) => void {
  return (response) => {
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  };
}
