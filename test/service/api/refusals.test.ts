import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import { createApp, SCORING_ENDPOINTS } from "../../../service/api/create-app.ts";
import type { ServedParts } from "../../../service/api/create-interface.ts";
import { VERIFICATION_ENDPOINTS } from "../../../service/api/create-verification-app.ts";
import type { ApiEnv } from "../../../service/api/kit/api-env.ts";
import { createRequestLimits } from "../../../service/api/kit/deadline.ts";
import type { Endpoint } from "../../../service/api/kit/endpoint.ts";
import { createEnvelope } from "../../../service/api/kit/envelope.ts";
import { createErrorHandler } from "../../../service/api/kit/handle-error.ts";
import { mountEndpoints } from "../../../service/api/kit/mount-endpoints.ts";
import { BODY_LIMIT_BYTES } from "../../../service/api/kit/read-input.ts";
import { createServerLife } from "../../../service/api/kit/server-life.ts";
import type { Services } from "../../../service/api/services.ts";
import { memoryAnswers, memoryGate } from "../access/memory-gate.ts";
import { paidBy, payingAccess } from "../access/paying-access.ts";
import { bodyOf, fakeLedger, KEY, REGISTRY, WALLET, walletSnapshot } from "./fake-ports.ts";
import { DELIVERY_ID, SUBSCRIPTION_ID } from "./routes/fake-alert-ports.ts";
import { signInOwners } from "./routes/keys-app.ts";
import { bySignIn } from "./routes/policy-app.ts";
import {
  bothPorts,
  CLIENT,
  PROVIDER,
  pendingView,
  SPEC_ID,
  VERDICT_ID,
  verdictView,
  withVerdict,
} from "./verification/fake-verification-ports.ts";

const ENDPOINTS = [...SCORING_ENDPOINTS, ...VERIFICATION_ENDPOINTS];
const nameOf = ({ method, path }: Endpoint) => `${method.toUpperCase()} ${path}`;
const NAMED = ENDPOINTS.map((endpoint) => [nameOf(endpoint), endpoint] as const);

const HASH = `0x${"00".repeat(32)}`;
const PARAMS: Readonly<Record<string, string>> = {
  address: WALLET,
  registry: REGISTRY,
  agent_id: "142",
  hash: HASH,
  kind: "feedback",
  epoch: "1",
  subscription_id: SUBSCRIPTION_ID,
  delivery_id: DELIVERY_ID,
  verdict_id: VERDICT_ID,
  mapping_id: "agent-health-v0.3-2026-11-20-t070",
};
const QUERIES: Readonly<Record<string, string>> = {
  "GET /agents": "?agent_id=142",
  "GET /compare": `?addresses=${WALLET},${CLIENT}`,
  "GET /alerts/subscribe/{address}": "?webhook_url=https://hooks.example.com/",
};
const OUTPUT = {
  spec_id: SPEC_ID,
  output_text: "1 2 3 4 5 6 7 8 9 10",
  submitter_addr: CLIENT,
  provider_addr: PROVIDER,
};
/** By name, of the endpoints that read a body. */
const BODIES: Readonly<Record<string, unknown>> = {
  "POST /ahs/batch": { addresses: [WALLET] },
  "POST /keys": { credits_usd: 5 },
  "POST /keys/topup": { credits_usd: 5 },
  "POST /keys/rotate": {},
  "PUT /ahs/route/policy": { instant_grades: ["A"], escrow_grades: ["B"] },
  "POST /v1/specs": { client_addr: CLIENT, spec_text: "Ten rows, please." },
  "POST /v1/outputs": OUTPUT,
  "POST /v1/verdicts/{verdict_id}/evidence": { text: "Sources." },
  "POST /v1/verdicts/{verdict_id}/review": { decision: "ALLOW", reason: "Checked." },
};

type Changes = Partial<ServedParts<Services>>;

/** How a request differs from one that is answered with 200. */
type Reach = {
  readonly changes?: Changes;
  readonly ledger?: ReturnType<typeof fakeLedger>;
  /** In the place of the credentials. */
  readonly headers?: Readonly<Record<string, string>> | (() => Promise<Readonly<Record<string, string>>>);
  /** Values of all path parameters. */
  readonly param?: string;
  readonly query?: string;
  readonly body?: unknown;
  /** In the place of a JSON body. */
  readonly raw?: string | Uint8Array<ArrayBuffer>;
};

const BY_KEY = { "X-API-Key": KEY };
const PORTS = bothPorts();
const broken = () => {
  throw new Error("broken");
};
const drained = createServerLife();
drained.drain();
const RUNNING = { ...memoryAnswers(), begin: async () => ({ kind: "running" as const }) };

/** Services that know the wallet, a file and a night. */
const FOUND: Changes = {
  inputFile: async () => ({}),
  evidence: async () => "{}",
  epochList: async () => ({
    root: HASH,
    json: Buffer.from(
      JSON.stringify({ epoch: 1, root: HASH, created_at: "2026-11-20T02:00:00.000Z", leaves: [] }),
    ),
  }),
};
/** Services that know neither. */
const UNKNOWN: Changes = {
  scores: {
    ...PORTS.scores,
    snapshot: async () => walletSnapshot({ followed: false, score: null }),
    atFinal: async () => "unknown",
  },
  scoreNow: async () => ({ kind: "not-indexed" }),
  findAgent: async () => ({ kind: "unknown" }),
  readDealings: async () => ({ kind: "not-indexed" }),
  inputFile: async () => undefined,
  evidence: async () => null,
  epochList: async () => null,
  subscriptions: { ...PORTS.subscriptions, find: async () => null },
  verdicts: { ...PORTS.verdicts, find: async () => null },
  acceptEvidence: async () => ({ kind: "unknown" }),
  eraseTexts: async () => ({ kind: "unknown" }),
  retryVerdict: async () => ({ kind: "unknown" }),
  appeals: { ...PORTS.appeals, offer: async () => ({ kind: "unknown" }) },
  outputs: { ...PORTS.outputs, hasSpec: async () => false },
};
const FOREIGN = withVerdict(verdictView({ owner: "key:another" }));
const NO_TEXTS: Changes = {
  acceptEvidence: async () => ({ kind: "texts-dropped" }),
  retryVerdict: async () => ({ kind: "texts-dropped" }),
  verdicts: {
    ...PORTS.verdicts,
    texts: async (id) => ({ ...(await PORTS.verdicts.texts(id)), outputText: null }),
    evidence: async () => ({ run: 1, body: null, hash: `0x${"ab".repeat(32)}` as const }),
  },
  outputs: {
    ...PORTS.outputs,
    spec: async (id) => {
      const spec = await PORTS.outputs.spec(id);
      return spec === null ? null : { ...spec, specText: null };
    },
  },
};

/** Refusals of one endpoint alone, or reached in its own way; null for a status that only a fault of the machine brings about. */
const SPECIFIC: Readonly<Record<string, Readonly<Record<number, Reach | null>>>> = {
  "GET /ahs/route/policy": { 304: { headers: { ...BY_KEY, "If-None-Match": "*" } } },
  "PUT /ahs/route/policy": { 412: { headers: { ...BY_KEY, "If-Match": '"x"' } } },
  "POST /keys/rotate": {
    404: {
      changes: { keys: { ...PORTS.keys, rotate: async () => null }, owners: signInOwners() },
      headers: bySignIn,
    },
  },
  "GET /agents": { 422: { query: "" } },
  "GET /compare": { 422: { query: "" } },
  "GET /alerts": { 422: { query: "?limit=0" } },
  "GET /evidence/{kind}/{hash}": { 304: { headers: { "If-None-Match": `"${HASH}"` } } },
  "GET /inputs/{hash}": { 304: { headers: { "If-None-Match": `"${HASH}"` } } },
  "GET /epochs/{epoch}": { 304: { headers: { "If-None-Match": `"${HASH}"` } } },
  "GET /livez": { 503: null },
  // Their parameter may be anything, and is 404 where it names nothing.
  "GET /v1/verdicts/{verdict_id}": { 422: null },
  "GET /v1/verdicts/{verdict_id}/texts": { 403: { changes: FOREIGN }, 422: null },
  "GET /v1/verdicts/{verdict_id}/receipt": { 409: { changes: withVerdict(pendingView()) }, 422: null },
  "GET /v1/receipt-mappings/{mapping_id}": { 404: { param: "x" }, 422: null },
  "GET /v1/verdicts/{verdict_id}/evidence": { 422: { query: "?run=x" } },
  "GET /v1/verdicts/{verdict_id}/deliveries": { 403: { changes: FOREIGN }, 422: { query: "?limit=0" } },
  "DELETE /v1/verdicts/{verdict_id}/texts": {
    403: { changes: { eraseTexts: async () => ({ kind: "stranger" }) } },
    409: { changes: { eraseTexts: async () => ({ kind: "unsettled" }) } },
    422: null,
  },
  "POST /v1/verdicts/{verdict_id}/evidence": {
    403: { changes: { acceptEvidence: async () => ({ kind: "stranger" }) } },
  },
  "POST /v1/verdicts/{verdict_id}/retry": {
    402: { changes: { retryVerdict: async () => ({ kind: "short", units: 500, balanceUnits: 0 }) } },
    403: { changes: { retryVerdict: async () => ({ kind: "not-the-submitter" }) } },
    422: {
      changes: {
        repeats: memoryGate({ ...RUNNING, begin: async () => ({ kind: "other-request" }) }).repeats,
      },
      headers: { ...BY_KEY, "Idempotency-Key": "one" },
    },
  },
  "POST /v1/verdicts/{verdict_id}/appeal": {
    403: { changes: { appeals: { ...PORTS.appeals, offer: async () => ({ kind: "stranger" }) } } },
    422: null,
  },
  "POST /v1/verdicts/{verdict_id}/review": {
    403: { changes: { keys: { ...PORTS.keys, find: async () => null } } },
  },
};

/** Requests that bring an endpoint to a status of its kind. */
function reachesOf(endpoint: Endpoint, status: number): readonly (Reach | null)[] {
  const name = nameOf(endpoint);
  const specific = SPECIFIC[name]?.[status];
  if (specific !== undefined) return [specific];
  const isPaidOnly = endpoint.price !== null && endpoint.paidBy === "payment";
  const credentials = credentialsOf(endpoint);
  const actsOnce =
    endpoint.price !== null || (endpoint.method === "post" && 409 in endpoint.operation.responses);
  switch (status) {
    case 200:
      return [{}];
    case 304:
      return [{ headers: { ...credentials, "If-None-Match": "*" } }];
    case 400: {
      const keyless = actsOnce ? [{ headers: { ...credentials, "Idempotency-Key": "" } }] : [];
      const isByKey = endpoint.operation.security?.some((one) => "BearerKey" in one) === true;
      const twoKeys = isByKey ? [{ headers: { ...credentials, authorization: "Bearer ahs_another" } }] : [];
      const bytes = name in BODIES ? [{ raw: Uint8Array.of(0x22, 0xff, 0xfe, 0x22) }] : [];
      return [...bytes, ...keyless, ...twoKeys];
    }
    case 401:
      if (isPaidOnly) return [{ changes: { access: PORTS.access } }];
      return [
        { headers: { "X-API-Key": "ahs_unknown" } },
        ...(endpoint.operation.security?.length === 0 ? [] : [{ headers: {} }]),
      ];
    case 402:
      return [isPaidOnly ? { headers: {} } : { ledger: fakeLedger({ balanceUnits: 0 }) }];
    case 403:
      return [{ headers: { ...credentials, "X-Spending-Limit-Usd": "0" } }];
    case 404:
      return [
        { changes: UNKNOWN },
        ...("verdict_id" in PARAMS && name.includes("{verdict_id}") ? [{ param: "x" }] : []),
      ];
    case 409: {
      const ledger = { ...fakeLedger({ balanceUnits: RICH }), answers: RUNNING };
      const changes = { repeats: memoryGate(RUNNING).repeats };
      return [{ changes, ledger, headers: { ...credentials, "Idempotency-Key": "first" } }];
    }
    case 410:
      return [{ changes: NO_TEXTS }];
    case 413:
      return [{ raw: "x".repeat(BODY_LIMIT_BYTES + 1) }];
    case 415:
      return [{ raw: "{}", headers: { ...credentials, "content-encoding": "gzip" } }];
    case 422:
      return [name in BODIES ? { body: [] } : { param: "x" }];
    case 429:
      return [{ changes: { ipLimit: () => ({ policy: "ip", perMinute: 1, tokens: 0 }) } }];
    case 500:
      return [{ changes: { ipLimit: broken } }];
    case 503:
      return [{ changes: { life: drained } }];
    default:
      return [];
  }
}

const RICH = 100_000;

function credentialsOf({ price, paidBy: by }: Endpoint): Readonly<Record<string, string>> {
  return price !== null && by === "payment" ? { ...paidBy(1), ...BY_KEY } : BY_KEY;
}

/** Asks an endpoint that is served alone; `charged` is what its callers paid. */
async function ask(endpoint: Endpoint, reach: Reach, method = endpoint.method.toUpperCase()) {
  const ledger = reach.ledger ?? fakeLedger({ balanceUnits: RICH });
  const before = ledger.balance() ?? 0;
  const ports = bothPorts(FOUND, ledger);
  const paying = payingAccess(
    { keys: ledger.ledger, clock: ports.clock, logger: ports.logger },
    ledger.answers,
  );
  const isPaidOnly = endpoint.price !== null && endpoint.paidBy === "payment";
  const services = { ...ports, ...(isPaidOnly ? { access: paying.access } : {}), ...reach.changes };
  const app = new Hono<ApiEnv>();
  app.use(createEnvelope({ ...services, metrics: { observe: () => undefined }, isHttps: false }));
  app.onError(createErrorHandler(services.logger));
  mountEndpoints(
    app,
    ENDPOINTS.filter(({ path }) => path === endpoint.path),
    {
      deps: services,
      limits: createRequestLimits({ ...services, stopping: services.life.stopping }),
      catalog: new Map(),
    },
  );
  const name = nameOf(endpoint);
  const path = endpoint.path.replaceAll(/\{(.+?)\}/g, (_, param) => reach.param ?? PARAMS[param] ?? "");
  const headers = typeof reach.headers === "function" ? await reach.headers() : reach.headers;
  const json = name in BODIES ? JSON.stringify(reach.body ?? BODIES[name]) : null;
  const response = await app.request(`${path}${reach.query ?? QUERIES[name] ?? ""}`, {
    method,
    headers: { "content-type": "application/json", ...(headers ?? credentialsOf(endpoint)) },
    body: ["GET", "HEAD"].includes(method) ? null : (reach.raw ?? json),
  });
  const isPaid = paying.taken.some(({ outcome }) => outcome === "kept");
  const isOwed = paying.taken.some(({ outcome }) => outcome === "owed");
  return { response, charged: before - (ledger.balance() ?? 0), isPaid, isOwed };
}

type Examples = Readonly<Record<string, { readonly value: { readonly type: string } }>>;
type Documented = Readonly<
  Record<string, { readonly content?: Readonly<Record<string, { readonly examples?: Examples }>> }>
>;

describe("every endpoint", () => {
  it.each(NAMED)(
    "%s gives each status that it documents, and a refusal costs nothing",
    async (_, endpoint) => {
      const documented = endpoint.operation.responses as Documented;
      // 414 comes from the HTTP server, before any endpoint has the request.
      for (const [status, { content = {} }] of Object.entries(documented).filter(
        ([code]) => code !== "414",
      )) {
        const reaches = reachesOf(endpoint, Number(status));
        expect([status, reaches.length]).not.toEqual([status, 0]);
        for (const reach of reaches.filter((one) => one !== null)) {
          const { response, charged, isPaid } = await ask(endpoint, reach);
          expect([response.status, await response.clone().text()]).toEqual([
            Number(status),
            expect.any(String),
          ]);
          const mediaType = response.headers.get("content-type");
          expect(Object.keys(content)).toEqual(mediaType === null ? [] : expect.arrayContaining([mediaType]));
          if (response.status === 200) expect(isPaid || charged > 0).toBe(endpoint.price !== null);
          else expect([status, charged, isPaid]).toEqual([status, 0, false]);
          if (mediaType !== "application/problem+json") continue;
          const types = Object.values(content[mediaType]?.examples ?? {}).map(({ value }) => value.type);
          expect(types).toContain((await bodyOf(response)).type);
        }
      }
    },
  );

  it.each(NAMED)("%s answers what its schema says, member for member", async (_, endpoint) => {
    const { response } = await ask(endpoint, {});
    const body = await bodyOf(response);
    expect(endpoint.answer.schema.parse(body)).toEqual(body);
    if (endpoint.price !== null) expect(response.headers.get("cache-control")).toBe("private, no-store");
  });

  it.each(NAMED)("%s refuses other methods with those that its path has, uncharged", async (_, endpoint) => {
    const own = ENDPOINTS.filter(({ path }) => path === endpoint.path);
    const methods = own.map(({ method }) => method.toUpperCase());
    const isHeadFree = own.some(({ method, price }) => method === "get" && price === null);
    for (const method of ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH"]) {
      if (methods.includes(method)) continue;
      const { response, charged } = await ask(endpoint, {}, method);
      const refusal = [method, 405, expect.stringContaining(methods[0] ?? ""), 0];
      expect([method, response.status, response.headers.get("allow"), charged]).toEqual(
        method === "HEAD" && isHeadFree ? ["HEAD", 200, null, 0] : refusal,
      );
      if (response.status === 200) expect(await response.text()).toBe("");
    }
  });

  it.each(NAMED.filter(([name]) => name.includes("{address}")))(
    "%s names what is no address",
    async (_, endpoint) => {
      const { response } = await ask(endpoint, { param: "0x12" });
      expect((await bodyOf<{ detail: unknown[] }>(response)).detail[0]).toMatchObject({
        type: "string_pattern_mismatch",
        loc: ["path", "address"],
        msg: expect.any(String),
      });
    },
  );

  it.each(NAMED)("%s charges nothing when a service fails or the database is gone", async (_, endpoint) => {
    for (const [message, status] of [
      ["broken", 500],
      ["timeout exceeded when trying to connect", 503],
    ] as const) {
      const used = new Set<string>();
      await ask(endpoint, { changes: watched({ ...PORTS, ...FOUND }, (name) => used.add(name) && null) });
      const endured: string[] = [];
      for (const failing of used) {
        const failure = new Error(message);
        const changes = watched({ ...PORTS, ...FOUND }, (name) => (name === failing ? failure : null));
        const { response, charged, isPaid, isOwed } = await ask(endpoint, { changes });
        const expected = isOwed ? 503 : status;
        if (response.status === 200) endured.push(failing);
        else expect([failing, response.status, charged, isPaid]).toEqual([failing, expected, 0, false]);
      }
      expect(endured.filter((name) => !ENDURED[status].includes(name))).toEqual([]);
    }
  });
});

/** Services whose failure does not fail an answer. */
const ENDURED: Readonly<Record<500 | 503, readonly string[]>> = {
  500: ["recordInterest"],
  503: ["recordInterest", "sanctionsSources"],
};

/** Services of the server itself, which no endpoint calls. */
const OF_SERVER = new Set(["access", "clock", "logger", "registry", "life", "ipLimit", "randomId", "policy"]);

/** The services, of which those fail for which `step` returns an error. */
function watched(ports: ServedParts<Services>, step: (name: string) => Error | null): Changes {
  const watch =
    (name: string, call: (...given: unknown[]) => unknown) =>
    (...given: unknown[]) => {
      const failure = step(name);
      if (failure === null) return call(...given);
      const result = call(...given);
      if (result instanceof Promise) return Promise.reject(failure);
      throw failure;
    };
  const watchAll = (part: object, prefix: string): object =>
    Object.fromEntries(
      Object.entries(part).flatMap(([name, member]) => {
        const full = `${prefix}${name}`;
        if (prefix === "" && OF_SERVER.has(name)) return [];
        if (typeof member === "function")
          return [[name, watch(full, member as (...given: unknown[]) => unknown)]];
        const isPlain = member !== null && Object.getPrototypeOf(member) === Object.prototype;
        return [[name, isPlain ? watchAll(member, `${full}.`) : member]];
      }),
    );
  return watchAll(ports, "");
}

it("a path that is unknown is 404 for any method", async () => {
  const app = createApp(PORTS);
  for (const method of ["GET", "POST", "DELETE"])
    expect((await app.request("/nothing/here", { method })).status).toBe(404);
});
