import { type RouteConfig, z } from "@hono/zod-openapi";
import type { EndpointSpec } from "./endpoint.ts";
import { PROBLEMS, type ProblemCode, problemType } from "./problems.ts";

const problemSchema = z
  .object({
    type: z.string().openapi({ description: "Where the problem is explained, on this host" }),
    title: z.string(),
    status: z.int(),
    detail: z.string().openapi({ description: "What was given and what was expected" }),
    instance: z.string().openapi({ description: "Path of the request" }),
    request_id: z.string(),
  })
  .openapi("Problem", { description: "RFC 9457 problem details" });

const validationErrorSchema = z
  .object({
    type: z.string(),
    loc: z.array(z.union([z.string(), z.int()])),
    msg: z.string(),
    input: z.unknown().optional(),
    ctx: z.record(z.string(), z.unknown()).optional(),
  })
  .openapi("ValidationError");

const validationErrorsSchema = z
  .object({ detail: z.array(validationErrorSchema).optional() })
  .openapi("HTTPValidationError", { description: "Every fault of the request, in field order" });

const PAID_PROBLEMS: readonly ProblemCode[] = [
  "key-missing",
  "key-unknown",
  "key-expired",
  "key-revoked",
  "balance-insufficient",
  "database-unavailable",
  "internal",
];

/** The OpenAPI operation of an endpoint: its own parts, and the refusals that its kind implies. */
export function describeOperation<Params, Query, Body, Answer>(
  spec: EndpointSpec<Params, Query, Body, Answer>,
  price: number | null,
): RouteConfig {
  const problems = [...spec.problems, ...(price === null ? [] : PAID_PROBLEMS)];
  return {
    method: spec.method,
    path: spec.path,
    operationId: operationId(spec.method, spec.path),
    tags: [spec.tag],
    summary: spec.summary,
    description: spec.description,
    ...(price === null ? { security: [] } : { security: [{ ApiKey: [] }], "x-price-usd": price / 1000 }),
    request: requestOf(spec),
    responses: {
      200: {
        description: spec.answer.description,
        content: { "application/json": { schema: spec.answer.schema, example: spec.answer.example } },
      },
      ...alternativeResponses(spec.alternatives ?? {}),
      ...problemResponses(problems),
      ...(hasInput(spec) ? { 422: validationResponse } : {}),
    },
  };
}

const validationResponse = {
  description: "The path, query or body does not fit",
  content: { "application/json": { schema: validationErrorsSchema } },
};

function alternativeResponses(
  alternatives: NonNullable<EndpointSpec<unknown, unknown, unknown, unknown>["alternatives"]>,
): RouteConfig["responses"] {
  return Object.fromEntries(
    Object.entries(alternatives).map(([status, { schema, description }]) => [
      status,
      { description, content: { "application/json": { schema } } },
    ]),
  );
}

function operationId(method: string, path: string): string {
  const words = path.split("/").filter((part) => part !== "");
  return [method, ...words.map((word) => word.replace(/[{}]/g, "").replace(/[^a-zA-Z0-9]/g, "_"))].join("_");
}

// The casts hold because the schemas of path and query are objects, as OpenAPI wants them.
function requestOf<Params, Query, Body, Answer>(spec: EndpointSpec<Params, Query, Body, Answer>) {
  return {
    params: spec.request.params as unknown as z.ZodObject,
    query: spec.request.query as unknown as z.ZodObject,
    ...(spec.request.body === null
      ? {}
      : { body: { required: true, content: { "application/json": { schema: spec.request.body } } } }),
  };
}

function hasInput<Params, Query, Body, Answer>(spec: EndpointSpec<Params, Query, Body, Answer>): boolean {
  const { params, query } = requestOf(spec);
  return spec.request.body !== null || [params, query].some((part) => Object.keys(part.shape).length > 0);
}

/** One response a status, whose examples are the problems that share it. */
function problemResponses(codes: readonly ProblemCode[]): RouteConfig["responses"] {
  const statuses = new Map<number, ProblemCode[]>();
  for (const code of new Set(codes)) {
    const { status } = PROBLEMS[code];
    statuses.set(status, [...(statuses.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...statuses].map(([status, group]) => [
      status,
      {
        description: group.map((code) => PROBLEMS[code].title).join(", or "),
        content: {
          "application/problem+json": {
            schema: problemSchema,
            examples: Object.fromEntries(group.map((code) => [code, { value: problemExample(code) }])),
          },
        },
      },
    ]),
  );
}

function problemExample(code: ProblemCode): z.infer<typeof problemSchema> {
  return {
    type: problemType(code),
    title: PROBLEMS[code].title,
    status: PROBLEMS[code].status,
    detail: "What was given, and what was expected.",
    instance: "/ahs/0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
    request_id: "0b0f7b8e-6a0e-4a43-9f0a-0d5c2d3f7f11",
  };
}
