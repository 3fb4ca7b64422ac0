import { describe, expect, it } from "vitest";
import { SCORING_ENDPOINTS } from "../../../service/api/create-app.ts";
import { PROBLEMS, type ProblemCode } from "../../../service/api/problems.ts";
import { bodyOf, fakeApp, fakeLedger, WALLET, WITH_KEY } from "./fake-ports.ts";

type Operation = {
  readonly operationId: string;
  readonly responses: Readonly<
    Record<
      string,
      { readonly content: Readonly<Record<string, { readonly examples?: Record<string, unknown> }>> }
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

async function operationOf(path: string): Promise<Operation> {
  const operation = (await documentOf()).paths[path]?.get;
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
const hash = `0x${"00".repeat(32)}`;

const REACHED: Readonly<Record<string, Readonly<Record<number, () => Response | Promise<Response>>>>> = {
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
  "/ahs/route/{address}": {
    200: () => fakeApp().app.request(`/ahs/route/${WALLET}`, WITH_KEY),
    401: () => fakeApp().app.request(`/ahs/route/${WALLET}`),
    402: () => fakeApp({}, poor()).app.request(`/ahs/route/${WALLET}`, WITH_KEY),
    422: () => fakeApp().app.request("/ahs/route/x"),
    500: () => fakeApp({ scores: { standing: broken } }).app.request(`/ahs/route/${WALLET}`, WITH_KEY),
    503: () => fakeApp({ scores: { standing: unreachable } }).app.request(`/ahs/route/${WALLET}`, WITH_KEY),
  },
  "/inputs/{hash}": {
    200: () => fakeApp({ inputFile: async () => ({}) }).app.request(`/inputs/${hash}`),
    404: () => fakeApp().app.request(`/inputs/${hash}`),
    422: () => fakeApp().app.request("/inputs/x"),
    500: () => fakeApp({ inputFile: broken }).app.request(`/inputs/${hash}`),
    503: () => fakeApp({ inputFile: unreachable }).app.request(`/inputs/${hash}`),
  },
  "/epochs/{epoch}": {
    200: () => fakeApp({ epochList: async () => ({ root: hash, json: "{}" }) }).app.request("/epochs/1"),
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

describe("/openapi.json", () => {
  it("is OpenAPI 3.1 and describes every endpoint with its price", async () => {
    const document = await documentOf();
    expect(document.openapi).toBe("3.1.0");
    const described = Object.entries(document.paths).map(([path, methods]) => [
      path,
      Object.entries(methods).map(([method, operation]) => [method, operation["x-price-usd"] ?? null]),
    ]);
    expect(Object.fromEntries(described)).toEqual({
      "/ahs/{address}": [["get", 1]],
      "/ahs/route/{address}": [["get", 0.01]],
      "/inputs/{hash}": [["get", null]],
      "/epochs/{epoch}": [["get", null]],
      "/livez": [["get", null]],
      "/readyz": [["get", null]],
    });
  });

  it.each(SCORING_ENDPOINTS.map((endpoint) => [endpoint.path, endpoint.answer] as const))(
    "%s shows an example that its schema accepts as it is",
    (_path, { schema, example }) => {
      expect(schema.parse(example)).toEqual(example);
    },
  );

  it.each(Object.keys(REACHED))("%s gives every status that it documents", async (path) => {
    const { responses } = await operationOf(path);
    expect(Object.keys(responses).map(Number)).toEqual(Object.keys(REACHED[path] ?? {}).map(Number));
    for (const [status, reach] of Object.entries(REACHED[path] ?? {})) {
      const response = await reach();
      expect(response.status).toBe(Number(status));
      const mediaType = response.headers.get("content-type") ?? "";
      expect(Object.keys(responses[status]?.content ?? {})).toContain(mediaType);
    }
  });

  it("answers of live endpoints fit their schemas, member for member", async () => {
    for (const endpoint of SCORING_ENDPOINTS.filter(({ price }) => price !== null)) {
      const path = endpoint.path.replace("{address}", WALLET);
      const body = await bodyOf(await fakeApp().app.request(path, WITH_KEY));
      expect(endpoint.answer.schema.parse(body)).toEqual(body);
    }
  });

  it("documents every problem that the service has, by code, beside those of unknown paths and methods", async () => {
    const { paths } = await documentOf();
    const documented = Object.values(paths).flatMap((methods) =>
      Object.values(methods).flatMap(({ responses }) =>
        Object.values(responses).flatMap(({ content }) =>
          Object.keys(content["application/problem+json"]?.examples ?? {}),
        ),
      ),
    );
    const elsewhere: ProblemCode[] = [
      "method-not-allowed",
      "body-too-large",
      "header-malformed",
      "payment-malformed",
      "identity-missing",
      "sign-in-invalid",
      "payment-in-flight",
      "request-in-flight",
      "precondition-failed",
      "idempotency-key-reused",
      "rate-limited",
      "node-unavailable",
      "payments-unavailable",
      "settlement-pending",
      "deadline-exceeded",
      "draining",
    ];
    expect(new Set([...documented, ...elsewhere])).toEqual(new Set(Object.keys(PROBLEMS)));
  });

  it("asks priced endpoints for a key and free ones for nothing", async () => {
    expect((await operationOf("/ahs/{address}")).security).toEqual([{ ApiKey: [] }]);
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
    expect(page).toContain("prefers-color-scheme: dark");
    expect(page).not.toMatch(/(src|href)="(https?:)?\/\//);
    expect(page).not.toContain("<script");
  });

  it("shows the code in descriptions as code", async () => {
    const page = await (await fakeApp().app.request("/docs")).text();
    expect(page).toContain("with null scores and <code>escrow</code>, never a low grade");
    expect(page).not.toContain("`");
  });

  it("allows a browser its own style and nothing else", async () => {
    const response = await fakeApp().app.request("/docs");
    expect(response.headers.get("content-type")).toContain("text/html");
    expect(response.headers.get("content-security-policy")).toMatch(
      /^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/=]{44}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
    );
  });
});
