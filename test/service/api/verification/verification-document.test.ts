import { describe, expect, it } from "vitest";
import { VERDICT_EVENTS } from "../../../../service/api/verification/verdict-events-schema.ts";
import { bodyOf } from "../fake-ports.ts";
import { fakeVerificationApp } from "./fake-verification-ports.ts";

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
      "delete /v1/verdicts/{verdict_id}/texts": null,
      "get /v1/verdicts/{verdict_id}/texts": null,
      "get /v1/verdicts/{verdict_id}/deliveries": null,
      "post /v1/verdicts/{verdict_id}/retry": null,
      "post /v1/verdicts/{verdict_id}/review": null,
      "get /v1/verdicts/{verdict_id}/receipt": null,
      "get /v1/receipt-mappings/{mapping_id}": null,
      "get /health": null,
      "get /v1/appeals": null,
      "post /v1/verdicts/{verdict_id}/appeal": 0.5,
    });
  });

  it("describes the events of verdicts and no others", async () => {
    const { webhooks } = await documentOf();
    expect(Object.keys(webhooks)).toEqual(Object.keys(VERDICT_EVENTS));
  });

  it("names no credential that none of its operations takes", async () => {
    const { components } = await documentOf();
    expect(Object.keys(components.securitySchemes).sort()).toEqual(["ApiKey", "BearerKey", "SignIn", "X402"]);
  });
});
