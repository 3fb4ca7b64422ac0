import { type RouteConfig, z } from "@hono/zod-openapi";
import type { PaidRequest } from "../access/access.ts";
import type { ProblemCode } from "../access/problems.ts";

/** What an endpoint costs. */
export type Pricing = {
  /** Thousandths of a US dollar; the least, where it depends on the request. */
  readonly units: number;
  readonly isFixed: boolean;
  readonly paidBy: PaidRequest["paidBy"];
};

/** What the way of being called adds to an operation. */
export type AccessDescription = {
  readonly security: Record<string, string[]>[];
  readonly problems: readonly ProblemCode[];
  /** Request headers with what they are for. */
  readonly headers: Readonly<Record<string, string>>;
  /** Members of the operation that OpenAPI does not know. */
  readonly extensions: Readonly<Record<string, unknown>>;
};

type Response = Exclude<RouteConfig["responses"][string], { readonly $ref: string }>;

const KEY_PROBLEMS: readonly ProblemCode[] = ["key-unknown", "key-expired", "key-revoked"];

const OWNER_PROBLEMS: readonly ProblemCode[] = [
  "identity-missing",
  ...KEY_PROBLEMS,
  "sign-in-invalid",
  "node-unavailable",
];

const PAID_PROBLEMS: readonly ProblemCode[] = [
  "header-malformed",
  "payment-malformed",
  "key-missing",
  ...KEY_PROBLEMS,
  "sign-in-invalid",
  "balance-insufficient",
  "request-in-flight",
  "payment-in-flight",
  "payment-identifier-reused",
  "idempotency-key-reused",
  "database-unavailable",
  "payments-unavailable",
  "settlement-too-dear",
  "settlement-pending",
];

const PAID_HEADERS = {
  "Idempotency-Key":
    "1 to 255 printable ASCII characters, as a quoted string or bare. For 24 hours the same request of the same caller gets the same answer and is charged once; another request is refused. From 22 characters on, at random, it also proves whose a payment was whose answer was lost, except for POST /keys.",
  "X-Payment-Claim":
    "The claim of a 503 that came after a payment was taken: what was paid for, without another payment",
};

/** Headers of an answer that was paid for. */
export const PAID_ANSWER_HEADERS = {
  "RateLimit-Policy": {
    description: 'Calls a minute of the caller, as in "key";q=600;w=60',
    schema: { type: "string" as const },
  },
  RateLimit: {
    description: "Calls that are left, and in how many seconds all of them are",
    schema: { type: "string" as const },
  },
  "PAYMENT-RESPONSE": {
    description: "The settlement, base64 of JSON, where the call was paid by x402",
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
        scheme: z.literal("exact"),
        network: z.string().openapi({ description: "CAIP-2" }),
        asset: z.string().openapi({ description: "Contract of the token" }),
        amount: z.string().openapi({ description: "In the token's smallest unit" }),
        payTo: z.string(),
        maxTimeoutSeconds: z.number(),
      }),
    ),
  })
  .loose()
  .openapi("PaymentRequired", { description: "The terms of x402 version 2" });

/** The 402 that asks for a payment. */
export const paymentRequiredResponse: readonly [number, Response] = [
  402,
  {
    description: "Payment required",
    headers: {
      "PAYMENT-REQUIRED": { description: "The body, as base64 of JSON", schema: { type: "string" as const } },
    },
    content: { "application/json": { schema: paymentRequiredSchema } },
  },
];

/** How a priced operation is paid for. */
export function describePricing({ units, isFixed, paidBy }: Pricing): AccessDescription {
  const amount = String(units / 1000);
  const price = isFixed
    ? { mode: "fixed", currency: "USD", amount }
    : { mode: "dynamic", currency: "USD", min: amount };
  return {
    security: paidBy === "payment" ? [{ X402: [] }] : [{ ApiKey: [] }, { X402: [] }],
    problems: PAID_PROBLEMS,
    headers: PAID_HEADERS,
    extensions: { "x-price-usd": units / 1000, "x-payment-info": { price, protocols: ["x402"] } },
  };
}

/** How a free operation learns whose it is, where it asks. */
export function describeIdentity(kind: "key" | "owner" | "subscription" | undefined): AccessDescription {
  const none = { headers: {}, extensions: {} };
  switch (kind) {
    case undefined:
      return { ...none, security: [], problems: [] };
    case "key":
      return {
        ...none,
        security: [{ ApiKey: [] }],
        problems: ["key-missing", ...KEY_PROBLEMS],
      };
    case "owner":
      return {
        ...none,
        security: [{ ApiKey: [] }, { SignIn: [] }],
        problems: OWNER_PROBLEMS,
      };
    case "subscription":
      return {
        ...none,
        security: [{ ManageToken: [] }, { ApiKey: [] }, { SignIn: [] }],
        problems: OWNER_PROBLEMS,
      };
  }
}
