import type { RouteConfig } from "@hono/zod-openapi";
import { OpenAPIHono } from "@hono/zod-openapi";
import { describeWebhooks } from "./describe-webhooks.ts";
import { withNullableReferences } from "./nullable-references.ts";

/** An OpenAPI 3.1 document of ours. */
export type ApiDocument = ReturnType<OpenAPIHono["getOpenAPI31Document"]>;

const DESCRIPTION = `Scores autonomous agents by what their wallets did on chain, and routes payments to them.

A priced call is paid by an API key in \`X-API-Key\`, or by x402 version 2: a request without either is answered 402 with the terms, in the header \`PAYMENT-REQUIRED\` and as its body. Official x402 clients refuse more than 1 USD, and any token that they do not know, unless \`setSpendControls\` allows it. Nobody pays for an answer that is not 200.

Errors are RFC 9457 problems; requests that do not fit are 422 with every fault listed. A POST or a paid GET with an \`Idempotency-Key\` is answered and charged once, however often it is sent within a day.`;

const SIGN_IN = `A wallet's sign-in (CAIP-122), as x402's extension \`sign-in-with-x\` has it: base64 of the JSON of an EIP-4361 message with its signature. Members: \`domain\` (host and port of this service), \`address\`, \`uri\` (a URL under this service), \`version\` "1", \`chainId\` ("eip155:" and the chain's number), \`type\` "eip191", \`nonce\` (8 to 96 random letters and digits, used once), \`issuedAt\` (at most 5 minutes ago), optionally \`statement\`, \`expirationTime\`, \`notBefore\`, \`requestId\` and \`resources\`, and \`signature\` (by the account's key, or by ERC-1271). In TypeScript: \`encodeSIWxHeader(await createSIWxPayload(members, account, origin))\` of \`@x402/extensions/sign-in-with-x\`.`;

/** Describes endpoints; the same ones always make the same document. */
export function openApiDocument(endpoints: readonly { readonly operation: RouteConfig }[]): ApiDocument {
  const app = new OpenAPIHono();
  for (const { operation } of endpoints) app.openAPIRegistry.registerPath(operation);
  for (const webhook of describeWebhooks()) app.openAPIRegistry.registerWebhook(webhook);
  app.openAPIRegistry.registerComponent("securitySchemes", "ApiKey", {
    type: "apiKey",
    in: "header",
    name: "X-API-Key",
  });
  app.openAPIRegistry.registerComponent("securitySchemes", "SignIn", {
    type: "apiKey",
    in: "header",
    name: "SIGN-IN-WITH-X",
    description: SIGN_IN,
  });
  app.openAPIRegistry.registerComponent("securitySchemes", "ManageToken", {
    type: "http",
    scheme: "bearer",
    description: "The manage token of the subscription, as GET /alerts/subscribe/{address} answered it",
  });
  app.openAPIRegistry.registerComponent("securitySchemes", "X402", {
    type: "apiKey",
    in: "header",
    name: "PAYMENT-SIGNATURE",
    description: "A payment by x402 version 2, as the 402 of the same request asks for it",
  });
  const document = app.getOpenAPI31Document({
    openapi: "3.1.0",
    info: { title: "Agent Health", version: "0.1.0", description: DESCRIPTION },
    servers: [{ url: "/" }],
  });
  return withNullableReferences(document);
}
