import { pino } from "pino";
import { createRepeatStore } from "../../../service/access/idempotent-answers.ts";

import type { Endpoint } from "../../../service/api/kit/endpoint.ts";
import { BODY_LIMIT_BYTES } from "../../../service/api/kit/read-input.ts";
import { createServerLife } from "../../../service/api/kit/server-life.ts";
import { fakeApp, fakeLedger, KEY, WALLET } from "./fake-ports.ts";

type Reach = () => Response | Promise<Response>;

const EXHAUSTED = { policy: "ip", perMinute: 1, tokens: 0 } as const;

/** Requests that bring an endpoint to the refusals that every one of its kind has. */
export function sharedRefusals({
  method,
  path,
  price,
  paidBy,
}: Pick<Endpoint<never>, "method" | "path" | "price" | "paidBy">): Readonly<Record<number, Reach>> {
  const request = { method: method.toUpperCase() };
  const url = path.replace("{address}", WALLET);
  const drained = createServerLife();
  drained.drain();
  const every = {
    429: () => fakeApp({ ipLimit: () => EXHAUSTED }).app.request(url, request),
    500: () => fakeApp({ ipLimit: broken }).app.request(url, request),
    503: () => fakeApp({ life: drained }).app.request(url, request),
  };
  if (price === null || paidBy === "payment") return every;
  const repeated = { ...request, headers: { "X-API-Key": KEY, "Idempotency-Key": `"the first"` } };
  const malformed = { ...request, headers: { "X-API-Key": KEY, "Idempotency-Key": "" } };
  return {
    ...every,
    400: () => fakeApp().app.request(url, malformed),
    409: () => fakeApp({}, busyLedger()).app.request(url, repeated),
  };
}

/** Requests with bodies that no endpoint reads: not UTF-8, too large, and compressed. */
export function bodyRefusals(
  ask: (request: RequestInit) => Response | Promise<Response>,
): Readonly<Record<400 | 413 | 415, Reach>> {
  const headers = { "content-type": "application/json" };
  return {
    400: () => ask({ headers, body: Uint8Array.of(0x22, 0xff, 0xfe, 0x22) }),
    413: () => ask({ headers, body: "x".repeat(BODY_LIMIT_BYTES + 1) }),
    415: () => ask({ headers: { ...headers, "content-encoding": "gzip" }, body: "{}" }),
  };
}

function broken(): never {
  throw new Error("broken");
}

/** Of a key whose every request is under way already. */
export function busyLedger() {
  const keys = fakeLedger();
  return { ...keys, answers: { ...keys.answers, begin: async () => ({ kind: "running" as const }) } };
}

/** A free request that acts, with a malformed Idempotency-Key, and with one whose request is under way. */
export function actingRefusals(
  path: string,
  { headers }: { readonly headers: Readonly<Record<string, string>> },
): { readonly 400: Reach; readonly 409: Reach } {
  const repeats = createRepeatStore(busyLedger().answers, pino({ level: "silent" }));
  const ask = (key: string) =>
    fakeApp({ repeats }).app.request(path, {
      method: "POST",
      headers: { ...headers, "Idempotency-Key": key },
    });
  return { 400: () => ask(""), 409: () => ask("first") };
}
