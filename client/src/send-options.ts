import type { AgentHealthOptions } from "./agent-health.ts";
import type { SendOptions } from "./send.ts";

/** Beyond the service's own 45 s before and 45 s after a settlement of 20 s. */
const TIMEOUT_MS = 120_000;
const RETRIES = 2;

/** How a client's requests are sent, by what it was given and else by defaults. */
export function sendOptionsOf(apiKey: string | null, options: AgentHealthOptions): SendOptions {
  return {
    baseUrl: options.baseUrl.replace(/\/+$/, ""),
    apiKey,
    payer: options.payer ?? null,
    fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
    timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
    retries: options.retries ?? RETRIES,
    sleep: options.sleep ?? ((ms) => new Promise((resolve) => setTimeout(resolve, ms))),
    resume: options.resume ?? null,
    onCharge: options.onCharge ?? (() => undefined),
  };
}
