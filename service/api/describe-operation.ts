import { type RouteConfig, z } from "@hono/zod-openapi";
import type { ProblemCode } from "../access/problems.ts";
import {
  describeIdentity,
  describePricing,
  PAID_ANSWER_HEADERS,
  type Pricing,
  paymentRequiredResponse,
} from "./describe-access.ts";
import { problemResponses } from "./describe-problems.ts";
import type { EndpointSpec } from "./endpoint-spec.ts";

type AnySpec = EndpointSpec<unknown, unknown, unknown, unknown>;
type Response = Exclude<RouteConfig["responses"][string], { readonly $ref: string }>;
type StatusResponse = readonly [number, Response];

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

/** Those of every endpoint: its address or its URL may be too much, the server may be too slow or about to stop, or at fault. */
const COMMON_PROBLEMS: readonly ProblemCode[] = [
  "target-too-long",
  "rate-limited",
  "internal",
  "deadline-exceeded",
  "draining",
];

/** Those of every endpoint that reads a body. */
const BODY_PROBLEMS: readonly ProblemCode[] = ["body-malformed", "body-too-large", "encoding-unsupported"];

/** The OpenAPI operation of an endpoint: its own parts, and the refusals that its kind implies. */
export function describeOperation<Params, Query, Body, Answer>(
  spec: EndpointSpec<Params, Query, Body, Answer>,
  pricing: Pricing | null,
): RouteConfig {
  const access = pricing === null ? describeIdentity(spec.identity) : describePricing(pricing);
  const problems = [...COMMON_PROBLEMS, ...spec.problems, ...access.problems];
  return {
    method: spec.method,
    path: spec.path,
    operationId: operationId(spec.method, spec.path),
    tags: [spec.tag],
    summary: spec.summary,
    description: spec.description,
    security: access.security,
    ...access.extensions,
    request: requestOf(spec, { ...access.headers, ...spec.headers }),
    responses: merged([
      successResponse(spec, pricing),
      ...alternativeResponses(spec),
      ...(pricing === null ? [] : [paymentRequiredResponse]),
      ...(hasInput(spec) ? [validationResponse] : []),
      ...problemResponses(spec.request.body === null ? problems : [...problems, ...BODY_PROBLEMS]),
    ]),
  };
}

const validationResponse: StatusResponse = [
  422,
  {
    description: "The path, query or body does not fit",
    content: { "application/json": { schema: validationErrorsSchema } },
  },
];

function successResponse(
  { answer: { schema, example, description, renderings } }: Pick<AnySpec, "answer">,
  pricing: Pricing | null,
): StatusResponse {
  const binary = { schema: { type: "string" as const, format: "binary" } };
  return [
    200,
    {
      description,
      ...(pricing === null ? {} : { headers: PAID_ANSWER_HEADERS }),
      content: {
        "application/json": { schema, example },
        ...Object.fromEntries((renderings ?? []).map((mediaType) => [mediaType, binary])),
      },
    },
  ];
}

function alternativeResponses({ alternatives }: Pick<AnySpec, "alternatives">): readonly StatusResponse[] {
  return Object.entries(alternatives ?? {}).map(([status, { schema, description }]) => [
    Number(status),
    { description, ...(schema === undefined ? {} : { content: { "application/json": { schema } } }) },
  ]);
}

/** One response for each status, in rising order: what says the same status in several ways says it together. */
function merged(responses: readonly StatusResponse[]): RouteConfig["responses"] {
  const statuses = Map.groupBy(responses, ([status]) => status);
  const together = [...statuses].map(([status, group]) => {
    const parts = group.map(([, response]) => response);
    const content = Object.assign({}, ...parts.map((part) => part.content));
    const headers = Object.assign({}, ...parts.map((part) => part.headers));
    return [
      status,
      {
        description: parts.map(({ description }) => description).join(", or "),
        ...(Object.keys(headers).length === 0 ? {} : { headers }),
        ...(Object.keys(content).length === 0 ? {} : { content }),
      },
    ] as const;
  });
  return Object.fromEntries(together);
}

function operationId(method: string, path: string): string {
  const words = path.split("/").filter((part) => part !== "");
  return [method, ...words.map((word) => word.replace(/[{}]/g, "").replace(/[^a-zA-Z0-9]/g, "_"))].join("_");
}

// The casts hold because the schemas of path and query are objects, as OpenAPI wants them.
function requestOf<Params, Query, Body, Answer>(
  { request }: EndpointSpec<Params, Query, Body, Answer>,
  headers: Readonly<Record<string, string>>,
) {
  const parameters = Object.entries(headers).map(
    ([name, description]) => [name, z.string().optional().openapi({ description })] as const,
  );
  return {
    params: request.params as unknown as z.ZodObject,
    query: request.query as unknown as z.ZodObject,
    ...(parameters.length === 0 ? {} : { headers: z.object(Object.fromEntries(parameters)) }),
    ...(request.body === null
      ? {}
      : {
          body: {
            required: !request.body.safeParse(undefined).success,
            content: { "application/json": { schema: request.body } },
          },
        }),
  };
}

function hasInput<Params, Query, Body, Answer>({
  request: { params, query, body },
}: EndpointSpec<Params, Query, Body, Answer>): boolean {
  const parts = [params as unknown as z.ZodObject, query as unknown as z.ZodObject];
  return body !== null || parts.some((part) => Object.keys(part.shape).length > 0);
}
