import { createServer } from "node:http";
import type { Registry } from "prom-client";
import type { Config } from "../config.ts";

/** Serves the registry at /metrics of a port of its own until the signal fires; does nothing where none is configured. */
export function serveMetrics(
  registry: Registry,
  { metricsPort, metricsHost }: Pick<Config, "metricsPort" | "metricsHost">,
  signal: AbortSignal,
): void {
  if (metricsPort === null) return;
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
  server.listen(metricsPort, metricsHost);
  signal.addEventListener("abort", () => server.close());
}
