import { describe, expect, it } from "vitest";
import { z } from "zod";
import { SCORING_INTERFACE } from "../../../../service/api/create-app.ts";
import { VERIFICATION_INTERFACE } from "../../../../service/api/create-verification-app.ts";
import {
  exampleOf,
  memberOf,
  openApiDocument,
  operationsOf,
  webhooksOf,
} from "../../../../service/api/kit/openapi-document.ts";

const json = (body: unknown) => memberOf(memberOf(body, "content"), "application/json");

/** Every body of the documents, with the schema that it is checked by. */
const BODIES = [SCORING_INTERFACE, VERIFICATION_INTERFACE]
  .flatMap((one) => {
    const document = openApiDocument(one);
    const events = webhooksOf(document).map(({ name, operation }) => ({
      name,
      given: one.webhooks.find(({ path }) => path === name),
      operation,
    }));
    const operations = operationsOf(document).map(({ method, path, operation }) => ({
      name: `${method} ${path}`,
      given: one.endpoints.find((known) => known.method.toUpperCase() === method && known.path === path)
        ?.operation,
      operation,
    }));
    return [...operations, ...events].flatMap(({ name, given, operation }) => [
      {
        name: `${name}, answer`,
        schema: json(given?.responses[200]),
        shown: json(operation.responses?.["200"]),
      },
      { name: `${name}, body`, schema: json(given?.request?.body), shown: json(operation.requestBody) },
    ]);
  })
  .flatMap(({ name, schema, shown }) => {
    const checked = memberOf(schema, "schema");
    return checked instanceof z.ZodType ? [[name, checked, memberOf(shown, "example")] as const] : [];
  });

describe("examples of the documents", () => {
  it("exist for every answer, body and event", () => {
    const { endpoints, webhooks } = SCORING_INTERFACE;
    expect(BODIES.length).toBeGreaterThan(endpoints.length + webhooks.length);
    expect(BODIES.filter(([, , example]) => example === undefined)).toEqual([]);
  });

  it.each(BODIES)("%s: its schema accepts it", (_name, schema, example) => {
    expect(schema.safeParse(example).error?.issues ?? []).toEqual([]);
  });
});

describe("exampleOf", () => {
  const components = {
    schemas: { Money: { type: "object", required: ["wei"], properties: { wei: { example: "7" } } } },
  };
  const money = { $ref: "#/components/schemas/Money" };

  it.each<readonly [string, unknown, unknown]>([
    ["its own example", { type: "integer", example: 3 }, 3],
    ["an example of null", { type: ["string", "null"], example: null }, null],
    ["the type beside null", { type: ["boolean", "null"] }, false],
    ["the first value", { enum: ["A", "B", null] }, "A"],
    ["the least number", { type: "integer", minimum: 1 }, 1],
    ["a number above zero", { type: "number", exclusiveMinimum: 0 }, 1],
    ["zero", { type: "number" }, 0],
    ["a time", { type: "string", format: "date-time" }, "2026-11-20T10:00:00.000Z"],
    ["a text", { type: "string" }, "text"],
    ["one entry", { type: "array", items: { type: "boolean" } }, [false]],
    ["members of a component", money, { wei: "7" }],
    ["the alternative beside null", { anyOf: [money, { type: "null" }] }, { wei: "7" }],
    ["what is added to a component", { allOf: [money, { example: { wei: "8" } }] }, { wei: "8" }],
    [
      "required members, and others with an example",
      { type: "object", required: ["a"], properties: { a: {}, b: {}, c: { example: 1 } } },
      { a: null, c: 1 },
    ],
  ])("is %s", (_what, schema, example) => {
    expect(exampleOf(schema, { components } as never)).toEqual(example);
  });
});
