import { describe, expect, it } from "vitest";
import { PROBLEMS, type ProblemCode } from "../../../../service/access/problems.ts";
import { SCORING_ENDPOINTS } from "../../../../service/api/create-app.ts";
import { bodyOf, fakeApp, fakeLedger, standing, WALLET, WITH_KEY } from "../fake-ports.ts";
import { KEYS_REACHED } from "../keys-reached.ts";
import { ALERTS_REACHED } from "../routes/alerts-reached.ts";
import { fakeRecovery } from "../routes/fake-recovery.ts";
import { bodyRefusals, sharedRefusals } from "../shared-refusals.ts";
import { fakeVerificationApp } from "../verification/fake-verification-ports.ts";

type Operation = {
  readonly operationId: string;
  readonly responses: Readonly<
    Record<
      string,
      { readonly content?: Readonly<Record<string, { readonly examples?: Record<string, unknown> }>> }
    >
  >;
  readonly security: unknown;
  readonly "x-price-usd"?: number;
};
type Document = {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
};

async function documentOf(): Promise<Document> {
  return bodyOf<Document>(await fakeApp().app.request("/openapi.json"));
}

async function operationOf(path: string, method = "get"): Promise<Operation> {
  const operation = (await documentOf()).paths[path]?.[method];
  if (operation === undefined) throw new Error(`${path} is not described`);
  return operation;
}

it("says of declared endpoints that they are not proven to be the agent's", async () => {
  const { components } = await bodyOf<{
    readonly components: { readonly schemas: Readonly<Record<string, { readonly description?: string }>> };
  }>(await fakeApp().app.request("/openapi.json"));
  expect(components.schemas.Infrastructure?.description).toContain(
    "A declared endpoint is not proven to be the agent's",
  );
});

/** Requests that bring each endpoint to each status it can give. */
const broken = async (): Promise<never> => {
  throw new Error("broken");
};
const unreachable = async (): Promise<never> => {
  throw new Error("timeout exceeded when trying to connect");
};
const poor = () => fakeLedger({ balanceUnits: 0 });
const rich = () => fakeLedger({ balanceUnits: 10_000 });
const richest = () => fakeLedger({ balanceUnits: 25_000 });
const nodeless = () => ({ ...fakeRecovery(), openNode: null });
const postOf = (headers: Readonly<Record<string, string>>) => ({
  method: "POST",
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify({ addresses: [WALLET] }),
});
const hash = `0x${"00".repeat(32)}`;

type Reached = Readonly<Record<number, () => Response | Promise<Response>>>;

/** The same for a report that reads a wallet's dealings. */
function mapReached(path: string): Reached {
  const ask = (changes: Parameters<typeof fakeApp>[0] = {}, keys = fakeLedger()) =>
    fakeApp(changes, keys).app.request(`${path}/${WALLET}`, WITH_KEY);
  return {
    200: () => ask(),
    401: () => fakeApp().app.request(`${path}/${WALLET}`),
    402: () => ask({}, poor()),
    404: () => ask({ readDealings: async () => ({ kind: "not-indexed" }) }),
    422: () => fakeApp().app.request(`${path}/x`),
    500: () => ask({ readDealings: broken }),
    503: () => ask({ readDealings: async () => ({ kind: "not-ready" }) }),
  };
}

/** By path, or by method and path where a path has several; the refusals that all of a kind share are added. */
const REACHED: Readonly<Record<string, Reached>> = {
  "/risk/{address}": {
    200: () => fakeApp().app.request(`/risk/${WALLET}`, WITH_KEY),
    401: () => fakeApp().app.request(`/risk/${WALLET}`),
    402: () => fakeApp({}, poor()).app.request(`/risk/${WALLET}`, WITH_KEY),
    422: () => fakeApp().app.request("/risk/x"),
    500: () => fakeApp({ riskFacts: broken }).app.request(`/risk/${WALLET}`, WITH_KEY),
    503: () => fakeApp({ riskFacts: unreachable }).app.request(`/risk/${WALLET}`, WITH_KEY),
  },
  "/counterparties/{address}": mapReached("/counterparties"),
  "/network-map/{address}": mapReached("/network-map"),
  "/report-card/{address}": {
    200: () => fakeApp().app.request(`/report-card/${WALLET}`, WITH_KEY),
    401: () => fakeApp().app.request(`/report-card/${WALLET}`),
    402: () => fakeApp({}, poor()).app.request(`/report-card/${WALLET}`, WITH_KEY),
    404: () =>
      fakeApp({ scores: { standing: async () => standing({ followed: false }) } }).app.request(
        `/report-card/${WALLET}`,
        WITH_KEY,
      ),
    422: () => fakeApp().app.request("/report-card/x"),
    500: () => fakeApp({ scoreDistribution: broken }).app.request(`/report-card/${WALLET}`, WITH_KEY),
    503: () => fakeApp({ scoreDistribution: unreachable }).app.request(`/report-card/${WALLET}`, WITH_KEY),
  },
  "/risk/premium/{address}": {
    200: () => fakeApp().app.request(`/risk/premium/${WALLET}`, WITH_KEY),
    401: () => fakeApp().app.request(`/risk/premium/${WALLET}`),
    402: () => fakeApp({}, poor()).app.request(`/risk/premium/${WALLET}`, WITH_KEY),
    404: () =>
      fakeApp({ scores: { standing: async () => standing({ followed: false }) } }).app.request(
        `/risk/premium/${WALLET}`,
        WITH_KEY,
      ),
    422: () => fakeApp().app.request("/risk/premium/x"),
    500: () => fakeApp({ readLabels: broken }).app.request(`/risk/premium/${WALLET}`, WITH_KEY),
    503: () => fakeApp({ readLabels: unreachable }).app.request(`/risk/premium/${WALLET}`, WITH_KEY),
  },
  "/ahs/batch": {
    ...bodyRefusals((request) => fakeApp().app.request("/ahs/batch", { method: "POST", ...request })),
    200: () => fakeApp({}, rich()).app.request("/ahs/batch", postOf(WITH_KEY.headers)),
    401: () => fakeApp().app.request("/ahs/batch", postOf({})),
    402: () => fakeApp({}, poor()).app.request("/ahs/batch", postOf(WITH_KEY.headers)),
    404: () =>
      fakeApp({ scoreNow: async () => ({ kind: "not-indexed" }) }, rich()).app.request(
        "/ahs/batch",
        postOf(WITH_KEY.headers),
      ),
    422: () => fakeApp().app.request("/ahs/batch", { ...postOf(WITH_KEY.headers), body: "{}" }),
    500: () => fakeApp({ scoreNow: broken }, rich()).app.request("/ahs/batch", postOf(WITH_KEY.headers)),
    503: () => fakeApp({ scoreNow: unreachable }, rich()).app.request("/ahs/batch", postOf(WITH_KEY.headers)),
  },
  "/retry/{address}": {
    200: () => fakeApp({}, rich()).app.request(`/retry/${WALLET}`, WITH_KEY),
    401: () => fakeApp().app.request(`/retry/${WALLET}`),
    402: () => fakeApp({}, poor()).app.request(`/retry/${WALLET}`, WITH_KEY),
    404: () =>
      fakeApp({ scores: { standing: async () => standing({ followed: false }) } }).app.request(
        `/retry/${WALLET}`,
        WITH_KEY,
      ),
    422: () => fakeApp().app.request("/retry/x"),
    500: () => fakeApp({ readWallet: broken }, rich()).app.request(`/retry/${WALLET}`, WITH_KEY),
    503: () => fakeApp({ recovery: nodeless() }, rich()).app.request(`/retry/${WALLET}`, WITH_KEY),
  },
  "/agent/protect/{address}": {
    200: () => fakeApp({}, richest()).app.request(`/agent/protect/${WALLET}`, WITH_KEY),
    401: () => fakeApp().app.request(`/agent/protect/${WALLET}`),
    402: () => fakeApp({}, poor()).app.request(`/agent/protect/${WALLET}`, WITH_KEY),
    404: () =>
      fakeApp({ scores: { standing: async () => standing({ followed: false }) } }).app.request(
        `/agent/protect/${WALLET}`,
        WITH_KEY,
      ),
    422: () => fakeApp().app.request("/agent/protect/x"),
    500: () => fakeApp({ readWallet: broken }, richest()).app.request(`/agent/protect/${WALLET}`, WITH_KEY),
    503: () => fakeApp({ recovery: nodeless() }, richest()).app.request(`/agent/protect/${WALLET}`, WITH_KEY),
  },
  "/ahs/{address}": {
    200: () => fakeApp().app.request(`/ahs/${WALLET}`, WITH_KEY),
    401: () => fakeApp().app.request(`/ahs/${WALLET}`),
    402: () => fakeApp({}, poor()).app.request(`/ahs/${WALLET}`, WITH_KEY),
    404: () =>
      fakeApp({ scoreNow: async () => ({ kind: "not-indexed" }) }).app.request(`/ahs/${WALLET}`, WITH_KEY),
    422: () => fakeApp().app.request("/ahs/x"),
    500: () => fakeApp({ scoreNow: broken }).app.request(`/ahs/${WALLET}`, WITH_KEY),
    503: () => fakeApp({ scoreNow: unreachable }).app.request(`/ahs/${WALLET}`, WITH_KEY),
  },
  "/health/{address}": {
    200: () => fakeApp().app.request(`/health/${WALLET}`, WITH_KEY),
    401: () => fakeApp().app.request(`/health/${WALLET}`),
    402: () => fakeApp({}, poor()).app.request(`/health/${WALLET}`, WITH_KEY),
    404: () =>
      fakeApp({ scores: { standing: async () => standing({ followed: false }) } }).app.request(
        `/health/${WALLET}`,
        WITH_KEY,
      ),
    422: () => fakeApp().app.request("/health/x", WITH_KEY),
    500: () => fakeApp({ readWallet: broken }).app.request(`/health/${WALLET}`, WITH_KEY),
    503: () => fakeApp({ readWallet: unreachable }).app.request(`/health/${WALLET}`, WITH_KEY),
  },
  "/wash/{address}": {
    200: () => fakeApp().app.request(`/wash/${WALLET}`, { ...WITH_KEY, method: "POST" }),
    401: () => fakeApp().app.request(`/wash/${WALLET}`, { method: "POST" }),
    402: () => fakeApp({}, poor()).app.request(`/wash/${WALLET}`, { ...WITH_KEY, method: "POST" }),
    404: () =>
      fakeApp({ scores: { standing: async () => standing({ followed: false }) } }).app.request(
        `/wash/${WALLET}`,
        { ...WITH_KEY, method: "POST" },
      ),
    422: () => fakeApp().app.request("/wash/x", { ...WITH_KEY, method: "POST" }),
    500: () =>
      fakeApp({ readWallet: broken }).app.request(`/wash/${WALLET}`, { ...WITH_KEY, method: "POST" }),
    503: () =>
      fakeApp({ readWallet: unreachable }).app.request(`/wash/${WALLET}`, { ...WITH_KEY, method: "POST" }),
  },
  "/optimize/{address}": {
    200: () => fakeApp({}, rich()).app.request(`/optimize/${WALLET}`, WITH_KEY),
    401: () => fakeApp().app.request(`/optimize/${WALLET}`),
    402: () => fakeApp({}, poor()).app.request(`/optimize/${WALLET}`, WITH_KEY),
    404: () =>
      fakeApp({ scores: { standing: async () => standing({ followed: false }) } }).app.request(
        `/optimize/${WALLET}`,
        WITH_KEY,
      ),
    422: () => fakeApp().app.request("/optimize/x", WITH_KEY),
    500: () => fakeApp({ readWallet: broken }, rich()).app.request(`/optimize/${WALLET}`, WITH_KEY),
    503: () => fakeApp({ readWallet: unreachable }, rich()).app.request(`/optimize/${WALLET}`, WITH_KEY),
  },
  "/ahs/route/{address}": {
    200: () => fakeApp().app.request(`/ahs/route/${WALLET}`, WITH_KEY),
    401: () => fakeApp().app.request(`/ahs/route/${WALLET}`),
    402: () => fakeApp({}, poor()).app.request(`/ahs/route/${WALLET}`, WITH_KEY),
    422: () => fakeApp().app.request("/ahs/route/x"),
    500: () => fakeApp({ scores: { standing: broken } }).app.request(`/ahs/route/${WALLET}`, WITH_KEY),
    503: () => fakeApp({ scores: { standing: unreachable } }).app.request(`/ahs/route/${WALLET}`, WITH_KEY),
  },
  ...KEYS_REACHED,
  ...ALERTS_REACHED,
  "/inputs/{hash}": {
    200: () => fakeApp({ inputFile: async () => ({}) }).app.request(`/inputs/${hash}`),
    304: () =>
      fakeApp({ inputFile: async () => ({}) }).app.request(`/inputs/${hash}`, {
        headers: { "if-none-match": `"${hash}"` },
      }),
    404: () => fakeApp().app.request(`/inputs/${hash}`),
    422: () => fakeApp().app.request("/inputs/x"),
    500: () => fakeApp({ inputFile: broken }).app.request(`/inputs/${hash}`),
    503: () => fakeApp({ inputFile: unreachable }).app.request(`/inputs/${hash}`),
  },
  "/epochs/{epoch}": {
    200: () =>
      fakeApp({ epochList: async () => ({ root: hash, json: Buffer.from("{}") }) }).app.request("/epochs/1"),
    304: () =>
      fakeApp({ epochList: async () => ({ root: hash, json: Buffer.from("{}") }) }).app.request("/epochs/1", {
        headers: { "if-none-match": `"${hash}"` },
      }),
    404: () => fakeApp().app.request("/epochs/1"),
    422: () => fakeApp().app.request("/epochs/x"),
    500: () => fakeApp({ epochList: broken }).app.request("/epochs/1"),
    503: () => fakeApp({ epochList: unreachable }).app.request("/epochs/1"),
  },
  "/livez": {
    200: () => fakeApp().app.request("/livez"),
  },
  "/readyz": {
    200: () => fakeApp().app.request("/readyz"),
    500: () => fakeApp({ scores: { head: broken } }).app.request("/readyz"),
    503: () => fakeApp({ scores: { head: unreachable } }).app.request("/readyz"),
  },
};

/** What only a fault of the machine brings /livez to; all others are brought there. */
const LIVENESS_FAULTS = ["500", "503"];
const PAID = { method: "get", path: "/ahs/{address}", price: 1000, paidBy: "anyone" } as const;

/** A request without a body, or for a free endpoint, brings it to all that are shared; liveness is told whatever happens. */
function sharedOf(endpoint: (typeof SCORING_ENDPOINTS)[number]): Reached {
  const { 500: broken, 503: draining, ...rest } = sharedRefusals(endpoint);
  const shared = endpoint.path === "/livez" ? { 429: rest[429] } : { ...rest, 500: broken, 503: draining };
  return Object.fromEntries(
    Object.entries(shared).filter(([status]) => endpoint.method === "get" || Number(status) >= 429),
  ) as Reached;
}

function endpointOf(name: string) {
  const [path = "", method = null] = name.split(" ").reverse();
  const endpoint = SCORING_ENDPOINTS.find(
    (known) => known.path === path && (method === null || known.method === method.toLowerCase()),
  );
  if (endpoint === undefined) throw new Error(`there is no ${name}`);
  return endpoint;
}

describe("/openapi.json", () => {
  it("is OpenAPI 3.1 and describes every endpoint with its price", async () => {
    const document = await documentOf();
    expect(document.openapi).toBe("3.1.0");
    const described = Object.entries(document.paths).map(([path, methods]) => [
      path,
      Object.entries(methods).map(([method, operation]) => [method, operation["x-price-usd"] ?? null]),
    ]);
    expect(Object.fromEntries(described)).toEqual({
      "/risk/{address}": [["get", 0.001]],
      "/risk/premium/{address}": [["get", 0.05]],
      "/counterparties/{address}": [["get", 0.1]],
      "/network-map/{address}": [["get", 0.1]],
      "/report-card/{address}": [["get", 2]],
      "/ahs/batch": [["post", 10]],
      "/retry/{address}": [["get", 10]],
      "/agent/protect/{address}": [["get", 25]],
      "/ahs/{address}": [["get", 1]],
      "/health/{address}": [["get", 0.5]],
      "/wash/{address}": [["post", 0.5]],
      "/optimize/{address}": [["get", 5]],
      "/ahs/route/{address}": [["get", 0.01]],
      "/ahs/route/policy": [
        ["get", null],
        ["put", null],
      ],
      "/keys": [["post", 1]],
      "/keys/topup": [["post", 1]],
      "/keys/rotate": [["post", null]],
      "/keys/self": [["get", null]],
      "/alerts/subscribe/{address}": [["get", 2]],
      "/alerts/{subscription_id}": [
        ["get", null],
        ["delete", null],
      ],
      "/alerts/{subscription_id}/test": [["post", null]],
      "/alerts/{subscription_id}/rotate": [["post", null]],
      "/alerts/{subscription_id}/deliveries": [["get", null]],
      "/alerts/{subscription_id}/deliveries/{delivery_id}/replay": [["post", null]],
      "/inputs/{hash}": [["get", null]],
      "/epochs/{epoch}": [["get", null]],
      "/livez": [["get", null]],
      "/readyz": [["get", null]],
    });
  });

  it.each(Object.keys(REACHED))("%s gives every status that it documents", async (name) => {
    const endpoint = endpointOf(name);
    const { responses } = await operationOf(endpoint.path, endpoint.method);
    const reached: Reached = { ...sharedOf(endpoint), ...REACHED[name] };
    const beyondReach = endpoint.price === null ? LIVENESS_FAULTS : Object.keys(sharedRefusals(PAID));
    // 414 is the HTTP server's, before any endpoint has the request.
    const isWithin = (status: string) => status !== "414" && !beyondReach.includes(status);
    expect(Object.keys(responses).filter(isWithin)).toEqual(Object.keys(reached).filter(isWithin));
    for (const [status, reach] of Object.entries(reached)) {
      const response = await reach();
      expect(response.status).toBe(Number(status));
      const mediaType = response.headers.get("content-type");
      const mediaTypes = Object.keys(responses[status]?.content ?? {});
      expect(mediaTypes).toEqual(mediaType === null ? [] : expect.arrayContaining([mediaType]));
    }
  });

  it("answers of live endpoints fit their schemas, member for member", async () => {
    for (const endpoint of SCORING_ENDPOINTS.filter(({ price }) => price !== null)) {
      const { method, path } = endpoint;
      const reached = REACHED[path] ?? REACHED[`${method.toUpperCase()} ${path}`];
      if (reached?.[200] === undefined) throw new Error(`nothing reaches a 200 of ${path}`);
      const body = await bodyOf(await reached[200]());
      expect(endpoint.answer.schema.parse(body)).toEqual(body);
    }
  });

  it("documents every problem that the service has in one of its documents, beside those of unknown paths and methods", async () => {
    const { paths } = await documentOf();
    const verification = await bodyOf<Document>(await fakeVerificationApp().request("/v1/openapi.json"));
    const described = [...Object.values(paths), ...Object.values(verification.paths)];
    const documented = described.flatMap((methods) =>
      Object.values(methods).flatMap(({ responses }) =>
        Object.values(responses).flatMap(({ content }) =>
          Object.keys(content?.["application/problem+json"]?.examples ?? {}),
        ),
      ),
    );
    const elsewhere: ProblemCode[] = [
      "method-not-allowed",
      "request-malformed",
      "request-timeout",
      "headers-too-large",
      "connection-crowded",
      // Of forms on pages, which are no part of the document.
      "cross-site",
    ];
    expect(new Set([...documented, ...elsewhere])).toEqual(new Set(Object.keys(PROBLEMS)));
  });

  it("asks priced endpoints for a key or a payment and free ones for nothing", async () => {
    expect((await operationOf("/ahs/{address}")).security).toEqual([{ ApiKey: [] }, { X402: [] }]);
    expect((await operationOf("/livez")).security).toEqual([]);
  });
});

describe("/docs", () => {
  it("shows every endpoint, its price and every problem in one page without any other file", async () => {
    const response = await fakeApp().app.request("/docs");
    const page = await response.text();
    for (const { path } of SCORING_ENDPOINTS) expect(page).toContain(`<code>${path}</code>`);
    expect(page).toContain("1.00 USD a call");
    expect(page).toContain("0.01 USD a call");
    for (const code of Object.keys(PROBLEMS)) expect(page).toContain(`id="problem-${code}"`);
    expect(page).toContain('name="viewport"');
    const style = /href="(\/assets\/style\.css[^"]*)"/.exec(page)?.[1] ?? "";
    expect(await (await fakeApp().app.request(style)).text()).toContain("prefers-color-scheme: dark");
    expect(page).not.toMatch(/(src|href)="(https?:)?\/\//);
    expect(page).not.toContain("<script");
  });

  it("shows the code in descriptions as code", async () => {
    const page = await (await fakeApp().app.request("/docs")).text();
    expect(page).toContain("with null scores and <code>escrow</code>, never a low grade");
    expect(page).not.toContain("`");
  });

  it("allows a browser files of this service and nothing else", async () => {
    const response = await fakeApp().app.request("/docs");
    expect(response.headers.get("content-type")).toContain("text/html");
    expect(response.headers.get("content-security-policy")).toMatch(
      /^default-src 'none'; style-src 'self'; .*script-src 'self'; .*base-uri 'none'; frame-ancestors 'none'$/,
    );
  });
});
