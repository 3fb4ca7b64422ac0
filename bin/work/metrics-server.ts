import { createServer } from "node:http";
import type { Registry } from "prom-client";

/** Serves the registry at /metrics of the loopback interface until the signal fires. */
export function serveMetrics(registry: Registry, port: number, signal: AbortSignal): void {
  const server = createServer((request, response) => {
    if (request.url !== "/metrics") {
      response.writeHead(404).end();
      return;
    }
    registry.metrics().then(
      (text) => response.writeHead(200, { "content-type": registry.contentType }).end(text),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  server.listen(port, "127.0.0.1");
  signal.addEventListener("abort", () => server.close());
}
