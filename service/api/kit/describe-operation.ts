import { type RouteConfig, z } from "@hono/zod-openapi";
import type { PaidRequest } from "../../access/access.ts";
import { PROBLEMS, type ProblemCode, problemType } from "../../access/problems.ts";
import { PROTOCOL_SCHEMES } from "../../access/schemes/schemes.ts";
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
  .openapi("HTTPValidationError", { description: "All faults of the request, in the order of its fields" });

/** Problems of every endpoint: rate limit, URL too long, deadline, shutdown and internal error. */
const COMMON_PROBLEMS: readonly ProblemCode[] = [
  "target-too-long",
  "rate-limited",
  "internal",
  "deadline-exceeded",
  "draining",
];

/** Problems of every endpoint that reads a body. */
const BODY_PROBLEMS: readonly ProblemCode[] = ["body-malformed", "body-too-large", "encoding-unsupported"];

/** The OpenAPI operation of an endpoint, with the refusals that its kind implies. */
export function describeOperation<Params, Query, Body, Answer>(
  spec: EndpointSpec<Params, Query, Body, Answer>,
  pricing: Pricing | null,
): RouteConfig {
  const access = pricing === null ? describeIdentity(spec.identity) : describePricing(pricing);
  const problems = [...COMMON_PROBLEMS, ...spec.problems, ...access.problems];
  return {
    method: spec.method,
    path: spec.path,
    operationId: spec.operationId,
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
    description: "Path, query or body are invalid",
    content: { "application/json": { schema: validationErrorsSchema } },
  },
];

function successResponse(
  { answer: { schema, description, renderings, preview }, identity }: Pick<AnySpec, "answer" | "identity">,
  pricing: Pricing | null,
): StatusResponse {
  const billed = identity === undefined ? {} : { headers: CHARGE_HEADERS };
  const binary = { schema: { type: "string" as const, format: "binary" } };
  return [
    200,
    {
      description,
      ...(pricing === null ? billed : { headers: PAID_ANSWER_HEADERS }),
      content: {
        "application/json": { schema: preview === undefined ? schema : z.union([schema, preview]) },
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

/** Merges responses of the same status; statuses rise. */
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

// The casts hold because the schemas of path and query are objects.
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

/** Price of an endpoint. */
export type Pricing = {
  /** Thousandths of a US dollar; where it depends on the request, the least, or the most beside `leastUnits`. */
  readonly units: number;
  readonly leastUnits: number | null;
  readonly isFixed: boolean;
  /** Whether a metered payment is charged by the answer. */
  readonly isMetered: boolean;
  /** Whether payments are taken that an escrow holds. */
  readonly isCaptured: boolean;
  readonly paidBy: PaidRequest["paidBy"];
};

/** Members that payment or identity adds to an operation. */
type AccessDescription = {
  readonly security: Record<string, string[]>[];
  readonly problems: readonly ProblemCode[];
  /** Request headers with their descriptions. */
  readonly headers: Readonly<Record<string, string>>;
  /** Extension members (`x-…`) of the operation. */
  readonly extensions: Readonly<Record<string, unknown>>;
};

const KEY_PROBLEMS: readonly ProblemCode[] = [
  "header-malformed",
  "key-unknown",
  "key-expired",
  "key-revoked",
];

const OWNER_PROBLEMS: readonly ProblemCode[] = [
  "identity-missing",
  ...KEY_PROBLEMS,
  "sign-in-invalid",
  "node-unavailable",
];

const PAID_PROBLEMS: readonly ProblemCode[] = [
  "payment-malformed",
  "key-missing",
  ...KEY_PROBLEMS,
  "sign-in-invalid",
  "balance-insufficient",
  "spending-limit-reached",
  "request-in-flight",
  "payment-in-flight",
  "payment-identifier-reused",
  "idempotency-key-reused",
  "database-unavailable",
  "payments-unavailable",
  "settlement-too-dear",
  "settlement-pending",
  "answer-owed",
];

const PAID_HEADERS = {
  "Idempotency-Key":
    "1 to 255 printable ASCII characters, quoted or bare. For 24 hours a repeat of the request by the same caller gets the same answer and is charged once; another request is refused. A random key of 22 or more characters also lets a payer fetch a paid answer that was lost (not for POST /keys).",
  "X-Spending-Limit-Usd":
    "The most that this caller may be charged in its session (`Mcp-Session-Id`), or without one on this UTC day, in US dollars with at most three decimals. Beyond it the answer is 403, uncharged",
  "X-Payment-Claim": "Claim from a 503 answer; retrieves the answer that is already paid for",
};

/** Headers of an answer to the holder of a key. */
const CHARGE_HEADERS = {
  "X-Charged-Usd": {
    description:
      "US dollars that this request charged, with three decimals; 0.000 for a repeat or a free call",
    schema: { type: "string" as const },
  },
  "X-Balance-Usd": {
    description: "US dollars left on the API key, or `unlimited`; omitted without a key",
    schema: { type: "string" as const },
  },
} as const satisfies NonNullable<Response["headers"]>;

/** Headers of an answer that was paid for. */
const PAID_ANSWER_HEADERS = {
  ...CHARGE_HEADERS,
  "RateLimit-Policy": {
    description: 'Calls a minute of the caller, as in "key";q=600;w=60',
    schema: { type: "string" as const },
  },
  RateLimit: {
    description: "Calls left, and the seconds until all calls are available again",
    schema: { type: "string" as const },
  },
  "PAYMENT-RESPONSE": {
    description:
      "The settlement of an x402 payment with a signed receipt (`offer-receipt`), as base64 of JSON",
    schema: { type: "string" as const },
  },
} as const satisfies NonNullable<Response["headers"]>;

const paymentRequiredSchema = z
  .object({
    x402Version: z.literal(2),
    error: z.string().optional().openapi({ description: "Why the request was not served" }),
    resource: z.looseObject({ url: z.string() }),
    accepts: z.array(
      z.looseObject({
        scheme: z.enum(PROTOCOL_SCHEMES),
        network: z.string().openapi({ description: "CAIP-2" }),
        asset: z.string().openapi({ description: "Contract of the token" }),
        amount: z.string().openapi({ description: "In the token's smallest unit" }),
        payTo: z.string(),
        maxTimeoutSeconds: z.number(),
      }),
    ),
    extensions: z.looseObject({}).optional().openapi({
      description:
        "`payment-identifier`; `bazaar`: the input and an example of the answer; `offer-receipt`: the entries of `accepts`, signed",
    }),
  })
  .loose()
  .openapi("PaymentRequired", { description: "The terms of x402 version 2" });

/** The 402 that asks for a payment. */
const paymentRequiredResponse: readonly [number, Response] = [
  402,
  {
    description: "Payment required",
    headers: {
      "PAYMENT-REQUIRED": { description: "The body, as base64 of JSON", schema: { type: "string" as const } },
    },
    content: { "application/json": { schema: paymentRequiredSchema } },
  },
];

/** Describes the payment of a priced operation. */
function describePricing(pricing: Pricing): AccessDescription {
  const { units, leastUnits, isFixed, isMetered, isCaptured, paidBy } = pricing;
  const amount = String(units / 1000);
  const range = leastUnits === null ? { min: amount } : { min: String(leastUnits / 1000), max: amount };
  const price = isFixed
    ? { mode: "fixed", currency: "USD", amount }
    : { mode: "dynamic", currency: "USD", ...range };
  return {
    security: paidBy === "payment" ? [{ X402: [] }] : [{ ApiKey: [] }, { BearerKey: [] }, { X402: [] }],
    problems: PAID_PROBLEMS,
    headers: PAID_HEADERS,
    extensions: {
      "x-price-usd": units / 1000,
      "x-payment-info": {
        price,
        protocols: ["x402"],
        ...(isMetered ? { metered: true } : {}),
        ...(isCaptured ? { captured: true } : {}),
      },
    },
  };
}

/** Describes the identity that a free operation requires. */
function describeIdentity(kind: "key" | "owner" | "subscription" | undefined): AccessDescription {
  const none = { headers: {}, extensions: {} };
  switch (kind) {
    case undefined:
      return { ...none, security: [], problems: [] };
    case "key":
      return {
        ...none,
        security: [{ ApiKey: [] }, { BearerKey: [] }],
        problems: ["key-missing", ...KEY_PROBLEMS],
      };
    case "owner":
      return {
        ...none,
        security: [{ ApiKey: [] }, { BearerKey: [] }, { SignIn: [] }],
        problems: OWNER_PROBLEMS,
      };
    case "subscription":
      return {
        ...none,
        security: [{ ManageToken: [] }, { ApiKey: [] }, { BearerKey: [] }, { SignIn: [] }],
        problems: OWNER_PROBLEMS,
      };
  }
}

const problemSchema = z
  .object({
    type: z.string().openapi({ description: "Where the problem is explained, on this host or at IANA" }),
    title: z.string(),
    status: z.int(),
    detail: z.string().openapi({ description: "What was given and what was expected" }),
    instance: z.string().openapi({ description: "Path of the request" }),
    request_id: z.string(),
    claim: z
      .string()
      .optional()
      .openapi({ description: "Of a payment that is held or has moved: send it back in X-Payment-Claim" }),
    "violated-policies": z
      .array(z.string())
      .optional()
      .openapi({ description: "Limits of RateLimit-Policy that were exceeded" }),
  })
  .openapi("Problem", { description: "RFC 9457 problem details" });

const RETRY_AFTER = {
  "Retry-After": {
    description: "Seconds after which another attempt makes sense",
    schema: { type: "integer" as const, minimum: 0 },
  },
};

const HEADERS_OF_STATUS: Readonly<Record<number, NonNullable<Response["headers"]>>> = {
  401: { "WWW-Authenticate": { description: "What is asked for", schema: { type: "string" } } },
  409: RETRY_AFTER,
  429: RETRY_AFTER,
  503: RETRY_AFTER,
};

/** One response for each status, with its problems as examples. */
function problemResponses(codes: readonly ProblemCode[]): readonly (readonly [number, Response])[] {
  const statuses = Map.groupBy(new Set(codes), (code) => PROBLEMS[code].status as number);
  return [...statuses].map(([status, group]) => {
    const headers = HEADERS_OF_STATUS[status];
    const content = {
      "application/problem+json": {
        schema: problemSchema,
        examples: Object.fromEntries(group.map((code) => [code, { value: problemExample(code) }])),
      },
    };
    const description = group.map((code) => PROBLEMS[code].title).join(", or ");
    return [status, { description, ...(headers === undefined ? {} : { headers }), content }];
  });
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
