import type { RouteConfig } from "@hono/zod-openapi";
import { OpenAPIHono } from "@hono/zod-openapi";
import { withNullableReferences } from "./nullable-references.ts";

/** An OpenAPI 3.1 document of ours. */
export type ApiDocument = ReturnType<OpenAPIHono["getOpenAPI31Document"]>;

/** One interface of the service, as its document describes it. */
export type DescribedInterface = {
  readonly title: string;
  readonly version: string;
  /** What it does, in a sentence: wherever machines ask. */
  readonly purpose: string;
  /** What to call first, and how its answers are meant. */
  readonly advice: string;
  readonly endpoints: readonly { readonly operation: RouteConfig }[];
  readonly webhooks: readonly RouteConfig[];
};

const PAYING = `A priced call is paid by an API key in \`X-API-Key\`, or by x402 version 2: a request without either is answered 402 with the terms, in the header \`PAYMENT-REQUIRED\` and as its body. Official x402 clients refuse more than 1 USD, and any token that they do not know, unless \`setSpendControls\` allows it. Nobody pays for an answer that is not 200.

Errors are RFC 9457 problems; requests that do not fit are 422 with every fault listed. A POST or a paid GET with an \`Idempotency-Key\`, or paid under a \`payment-identifier\` of x402, is answered and charged once, however often it is sent within a day. No answer tells that nothing was charged over x402 unless a final block shows it: after a 503 with a \`claim\`, the same request with the claim tells what became of the payment.`;

const SIGN_IN = `A wallet's sign-in (CAIP-122), as x402's extension \`sign-in-with-x\` has it: base64 of the JSON of an EIP-4361 message with its signature. Members: \`domain\` (host and port of this service), \`address\`, \`uri\` (a URL under this service), \`version\` "1", \`chainId\` ("eip155:" and the chain's number), \`type\` "eip191", \`nonce\` (8 to 96 random letters and digits, used once), \`issuedAt\` (at most 5 minutes ago), optionally \`statement\`, \`expirationTime\`, \`notBefore\`, \`requestId\` and \`resources\`, and \`signature\` (by the account's key, or by ERC-1271). In TypeScript: \`encodeSIWxHeader(await createSIWxPayload(members, account, origin))\` of \`@x402/extensions/sign-in-with-x\`.`;

type Security = Parameters<OpenAPIHono["openAPIRegistry"]["registerComponent"]>[2];

/** Ways to prove who calls, or to pay, by the names that operations know them under. */
const SECURITY_SCHEMES: Readonly<Record<string, Security>> = {
  ApiKey: { type: "apiKey", in: "header", name: "X-API-Key" },
  SignIn: { type: "apiKey", in: "header", name: "SIGN-IN-WITH-X", description: SIGN_IN },
  ManageToken: {
    type: "http",
    scheme: "bearer",
    description: "The manage token of the subscription, as GET /alerts/subscribe/{address} answered it",
  },
  X402: {
    type: "apiKey",
    in: "header",
    name: "PAYMENT-SIGNATURE",
    description: "A payment by x402 version 2, as the 402 of the same request asks for it",
  },
};

/** Describes an interface; the same one always makes the same document. */
export function openApiDocument(described: DescribedInterface): ApiDocument {
  const { endpoints, webhooks, title, version, purpose, advice } = described;
  const app = new OpenAPIHono();
  for (const { operation } of endpoints) app.openAPIRegistry.registerPath(operation);
  for (const webhook of webhooks) app.openAPIRegistry.registerWebhook(webhook);
  const used = new Set(
    endpoints.flatMap(({ operation }) => (operation.security ?? []).flatMap((one) => Object.keys(one))),
  );
  for (const [name, scheme] of Object.entries(SECURITY_SCHEMES)) {
    if (used.has(name)) app.openAPIRegistry.registerComponent("securitySchemes", name, scheme);
  }
  const document = app.getOpenAPI31Document({
    openapi: "3.1.0",
    info: { title, version, description: [purpose, advice, PAYING].join("\n\n") },
    servers: [{ url: "/" }],
  });
  return withNullableReferences(document);
}
