import { describe, expect, it } from "vitest";
import { VERIFICATION_ENDPOINTS } from "../../../../service/api/create-verification-app.ts";
import { VERDICT_EVENTS } from "../../../../service/api/verification/verdict-events-schema.ts";
import { bodyOf } from "../fake-ports.ts";
import { fakeVerificationApp } from "./fake-verification-ports.ts";
import { VERIFICATION_REACHED } from "./verification-reached.ts";

type Operation = {
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, unknown>> }>>;
  readonly security: unknown;
  readonly "x-price-usd"?: number;
};
type Document = {
  readonly openapi: string;
  readonly info: { readonly version: string; readonly title: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks: Readonly<Record<string, unknown>>;
  readonly components: { readonly securitySchemes: Readonly<Record<string, unknown>> };
};

const documentOf = async () => bodyOf<Document>(await fakeVerificationApp().request("/v1/openapi.json"));

/** Paths whose parameter may be anything, and is 404 where it names nothing. */
const NEVER_422 = [
  "GET /v1/verdicts/{verdict_id}",
  "GET /v1/verdicts/{verdict_id}/texts",
  "GET /v1/verdicts/{verdict_id}/receipt",
  "GET /v1/receipt-mappings/{mapping_id}",
];

const NAMED = VERIFICATION_ENDPOINTS.map(
  (endpoint) => [`${endpoint.method.toUpperCase()} ${endpoint.path}`, endpoint] as const,
);

describe("/v1/openapi.json", () => {
  it("is OpenAPI 3.1 of version 0.1.0 with the specification's four operations and ours", async () => {
    const { openapi, info, paths } = await documentOf();
    expect([openapi, info.version, info.title]).toEqual([
      "3.1.0",
      "0.1.0",
      "Agent Health output verification",
    ]);
    const described = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => [
        `${method} ${path}`,
        operation["x-price-usd"] ?? null,
      ]),
    );
    expect(Object.fromEntries(described)).toEqual({
      "post /v1/specs": null,
      "post /v1/outputs": 0.5,
      "get /v1/verdicts/{verdict_id}": null,
      "get /v1/verdicts/{verdict_id}/evidence": null,
      "post /v1/verdicts/{verdict_id}/evidence": null,
      "get /v1/verdicts/{verdict_id}/texts": null,
      "get /v1/verdicts/{verdict_id}/deliveries": null,
      "post /v1/verdicts/{verdict_id}/retry": null,
      "post /v1/verdicts/{verdict_id}/review": null,
      "get /v1/verdicts/{verdict_id}/receipt": null,
      "get /v1/receipt-mappings/{mapping_id}": null,
      "get /health": null,
    });
  });

  it("describes the events of verdicts and no others", async () => {
    const { webhooks } = await documentOf();
    expect(Object.keys(webhooks)).toEqual(Object.keys(VERDICT_EVENTS));
  });

  it("names no credential that none of its operations takes", async () => {
    const { components } = await documentOf();
    expect(Object.keys(components.securitySchemes).sort()).toEqual(["ApiKey", "SignIn", "X402"]);
  });

  it.each(NAMED)("%s gives every status that it documents", async (name, { method, path }) => {
    const responses = (await documentOf()).paths[path]?.[method]?.responses ?? {};
    const reached = VERIFICATION_REACHED[name] ?? {};
    // 414 is the HTTP server's, before any endpoint has the request.
    const documented = Object.keys(responses).filter(
      (status) => status !== "414" && !(status === "422" && NEVER_422.includes(name)),
    );
    expect(documented).toEqual(Object.keys(reached));
    for (const [status, reach] of Object.entries(reached)) {
      const response = await reach();
      expect([name, response.status]).toEqual([name, Number(status)]);
      const mediaType = response.headers.get("content-type");
      const mediaTypes = Object.keys(responses[status]?.content ?? {});
      expect(mediaTypes).toEqual(mediaType === null ? [] : expect.arrayContaining([mediaType]));
    }
  });

  it.each(NAMED)("%s answers what its schema says, member for member", async (name, { answer }) => {
    const reach = VERIFICATION_REACHED[name]?.[200];
    if (reach === undefined) throw new Error(`nothing reaches a 200 of ${name}`);
    const body = await bodyOf(await reach());
    expect(answer.schema.parse(body)).toEqual(body);
  });
});
