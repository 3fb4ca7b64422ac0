import { type RouteConfig, z } from "@hono/zod-openapi";
import { PROBLEMS, type ProblemCode, problemType } from "../access/problems.ts";

type Response = Exclude<RouteConfig["responses"][string], { readonly $ref: string }>;

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

/** One response a status, whose examples are the problems that share it. */
export function problemResponses(codes: readonly ProblemCode[]): readonly (readonly [number, Response])[] {
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
