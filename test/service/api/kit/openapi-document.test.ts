import { describe, expect, it } from "vitest";
import { PROBLEMS, type ProblemCode } from "../../../../service/access/problems.ts";
import { SCORING_ENDPOINTS } from "../../../../service/api/create-app.ts";
import { bodyOf, fakeApp } from "../fake-ports.ts";
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
      "/owner-cluster/{address}": [["get", null]],
      "/report-card/{address}": [["get", 2]],
      "/ahs/batch": [["post", 10]],
      "/retry/{address}": [["get", 10]],
      "/agent/protect/{address}": [["get", 25]],
      "/ahs/{address}": [["get", 1]],
      "/ahs/agent/{registry}/{agent_id}": [["get", 1]],
      "/health/{address}": [["get", 0.5]],
      "/wash/{address}": [["post", 0.5]],
      "/optimize/{address}": [["get", 5]],
      "/ahs/history/{address}": [["get", null]],
      "/ahs/route/{address}": [["get", 0.01]],
      "/ahs/route/policy": [
        ["get", null],
        ["put", null],
      ],
      "/agents": [["get", null]],
      "/compare": [["get", null]],
      "/keys": [["post", 1]],
      "/keys/topup": [["post", 1]],
      "/keys/rotate": [["post", null]],
      "/keys/self": [["get", null]],
      "/owed": [["get", null]],
      "/alerts/subscribe/{address}": [["get", 2]],
      "/alerts": [["get", null]],
      "/alerts/{subscription_id}": [
        ["get", null],
        ["delete", null],
      ],
      "/alerts/{subscription_id}/test": [["post", null]],
      "/alerts/{subscription_id}/rotate": [["post", null]],
      "/alerts/{subscription_id}/deliveries": [["get", null]],
      "/alerts/{subscription_id}/deliveries/{delivery_id}/replay": [["post", null]],
      "/inputs/{hash}": [["get", null]],
      "/evidence/{kind}/{hash}": [["get", null]],
      "/epochs/{epoch}": [["get", null]],
      "/livez": [["get", null]],
      "/readyz": [["get", null]],
    });
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
      // Of the proxy.
      "no-server",
      // Of forms on pages, which are no part of the document.
      "cross-site",
    ];
    expect(new Set([...documented, ...elsewhere])).toEqual(new Set(Object.keys(PROBLEMS)));
  });

  it("asks priced endpoints for a key or a payment and free ones for nothing", async () => {
    const ways = [{ ApiKey: [] }, { BearerKey: [] }, { X402: [] }];
    expect((await operationOf("/ahs/{address}")).security).toEqual(ways);
    expect((await operationOf("/livez")).security).toEqual([]);
  });
});

it("names every operation once, in snake case, with a described tag and a request example", async () => {
  const document = await bodyOf<
    Document & { readonly tags: readonly { readonly name: string }[]; readonly servers: unknown }
  >(await fakeApp().app.request("/openapi.json"));
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  const names = operations.map(({ operationId }) => operationId);
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) expect(name).toMatch(/^[a-z]+(_[a-z]+)+$/);
  const tags = new Set(document.tags.map(({ name }) => name));
  for (const operation of operations) {
    const { tags: own, "x-codeSamples": samples } = operation as unknown as {
      readonly tags: readonly string[];
      readonly "x-codeSamples": readonly { readonly source: string }[];
    };
    expect(own.every((tag) => tags.has(tag))).toBe(true);
    expect(samples[0]?.source).toMatch(/^curl (-X [A-Z]+ )?'https:\/\/health\.example\/[^{}]*'/);
  }
  expect(document.servers).toEqual([{ url: "https://health.example" }]);
});

describe("/docs", () => {
  const shown = async (path: string) => (await fakeApp().app.request(path)).text();

  it("lists every endpoint for readers without scripts, and loads files of this service alone", async () => {
    const page = await shown("/docs");
    for (const { path } of SCORING_ENDPOINTS) expect(page).toContain(`<code>${path}</code>`);
    expect(page).toContain('data-document="/openapi.json"');
    const style = /href="(\/assets\/style\.css[^"]*)"/.exec(page)?.[1] ?? "";
    expect(await shown(style)).toContain("prefers-color-scheme: dark");
    expect(page).not.toMatch(/(src|href)="(https?:)?\/\/(?!health\.example)/);
    expect(page).not.toContain("`");
  });

  it("explains every problem at /docs/problems", async () => {
    const page = await shown("/docs/problems");
    for (const code of Object.keys(PROBLEMS)) expect(page).toContain(`id="problem-${code}"`);
  });

  it("allows a browser files of this service, and the styles and the worker of Redoc", async () => {
    const response = await fakeApp().app.request("/docs");
    expect(response.headers.get("content-type")).toContain("text/html");
    expect(response.headers.get("content-security-policy")).toMatch(
      /^default-src 'none'; style-src 'self'( 'sha256-[^ ;]+'){2}; .*script-src 'self'; .*base-uri 'none'; frame-ancestors 'none'; worker-src blob:$/,
    );
  });
});
