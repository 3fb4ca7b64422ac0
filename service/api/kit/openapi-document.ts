import { OpenAPIHono, type RouteConfig } from "@hono/zod-openapi";

export type ApiDocument = ReturnType<OpenAPIHono["getOpenAPI31Document"]>;

/** One interface of the service, for its document. */
export type DescribedInterface = {
  readonly title: string;
  readonly version: string;
  /** One sentence for machine-readable documents. */
  readonly purpose: string;
  /** Which endpoint to call first, and how to read its answers. */
  readonly advice: string;
  readonly endpoints: readonly { readonly operation: RouteConfig; readonly tool: string | null }[];
  readonly webhooks: readonly RouteConfig[];
};

const PAYING = `# Paying

Pay a priced call with an API key in \`X-API-Key\` (or as \`Authorization: Bearer ahs_…\`), or over x402 version 2. A request without either is answered 402 with the terms, in the header \`PAYMENT-REQUIRED\` and in its body. Keys are sold at \`/account\` and by \`POST /keys\`; \`POST /keys/topup\` adds credits. Only a 200 is charged. \`X-Charged-Usd\` reports the charge, \`X-Balance-Usd\` what is left on the key.

Official x402 clients pay at most 1 USD by default. Raise the limit to the price, for this asset alone, with \`setSpendControls\`.

# Errors and repeats

Errors are RFC 9457 problems; their \`type\` is explained at [/docs/problems](/docs/problems). Invalid requests are answered 422 with all faults. Send an \`Idempotency-Key\`, or a \`payment-identifier\` of x402, with every call that costs money. The call is then answered and charged once, however often it is sent within a day. After a 503 with a \`claim\`, the same request with the claim returns the answer that is already paid for.`;

/** Groups of operations, in the order of the documents. */
const TAGS: Readonly<Record<string, string>> = {
  Routing: "Decide how to pay a wallet, by the default table or your own policy.",
  Scores: "Agent Health Scores, with reasons, history and pictures, and agents by name.",
  Risk: "Sanctions, threats, labels and failures of a wallet before a transaction.",
  Network: "Counterparties of a wallet and the accounts around it.",
  Reports: "Diagnoses for the operator of a wallet: failures, gas, approvals, tokens.",
  Recovery: "Transactions that repair or protect a wallet, ready to be signed.",
  Alerts: "Signed webhooks about changes of a wallet.",
  Keys: "API keys: buy, top up, rotate, balance.",
  Verification: "Register a specification and submit an output to be judged by it.",
  Verdicts: "Verdicts on outputs, with evidence, deliveries, review and receipts.",
  "Verification of scores": "Files and proofs by which anyone can recompute a score.",
  Webhooks: "Events that the service sends to your URL, signed by Standard Webhooks 1.0.0.",
  Operation: "Liveness and readiness for monitoring.",
};

const SIGN_IN = `A wallet's sign-in (CAIP-122), as x402's extension \`sign-in-with-x\` has it: base64 of the JSON of an EIP-4361 message with its signature. Members: \`domain\` (host and port of this service), \`address\`, \`uri\` (a URL under this service), \`version\` "1", \`chainId\` ("eip155:" and the chain's number), \`type\` "eip191", \`nonce\` (8 to 96 random letters and digits, used once), \`issuedAt\` (at most 5 minutes ago), optionally \`statement\`, \`expirationTime\`, \`notBefore\`, \`requestId\` and \`resources\`, and \`signature\` (by the account's key, or by ERC-1271). In TypeScript: \`encodeSIWxHeader(await createSIWxPayload(members, account, origin))\` of \`@x402/extensions/sign-in-with-x\`.`;

/** Ways to identify a caller or to pay, by the names that operations use. */
const SECURITY_SCHEMES: Readonly<
  Record<string, Parameters<OpenAPIHono["openAPIRegistry"]["registerComponent"]>[2]>
> = {
  ApiKey: {
    type: "apiKey",
    in: "header",
    name: "X-API-Key",
    description: "An API key, sold at /account and by POST /keys, or issued by the operator",
  },
  BearerKey: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "ahs_…",
    description: "The same API key as a bearer token",
  },
  SignIn: { type: "apiKey", in: "header", name: "SIGN-IN-WITH-X", description: SIGN_IN },
  ManageToken: {
    type: "http",
    scheme: "bearer",
    description: "The manage token of the subscription, from the answer of GET /alerts/subscribe/{address}",
  },
  X402: {
    type: "apiKey",
    in: "header",
    name: "PAYMENT-SIGNATURE",
    description: "A payment over x402 version 2, by the terms of the 402 of the same request",
  },
};

/** The server that a document describes. */
type DescribedServer = {
  /** Scheme, host and port. */
  readonly origin: string;
  /** mailto: or https: URI; null if none is set. */
  readonly contact: string | null;
};

/** By SPDX, as OpenAPI 3.1 has it. */
const LICENSE = { name: "Proprietary", identifier: "LicenseRef-Proprietary" } as const;

const ANY_SERVER: DescribedServer = { origin: "http://127.0.0.1:4020", contact: null };

/** The OpenAPI document of an interface; without a server, for a local one. */
export function openApiDocument(described: DescribedInterface, server = ANY_SERVER): ApiDocument {
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
  const tagged = new Set(
    [...endpoints, ...webhooks.map((operation) => ({ operation }))].flatMap(
      ({ operation }) => operation.tags ?? [],
    ),
  );
  const document = app.getOpenAPI31Document({
    openapi: "3.1.0",
    info: {
      title,
      version,
      description: [purpose, advice, PAYING].join("\n\n"),
      contact: contactOf(server),
      license: LICENSE,
    },
    servers: [{ url: server.origin }],
    tags: Object.entries(TAGS).flatMap(([name, description]) =>
      tagged.has(name) ? [{ name, description }] : [],
    ),
  });
  return withSamples(withExamples(withNullableReferences(document)), server.origin);
}

function contactOf({ origin, contact }: DescribedServer) {
  const name = "Agent Health";
  if (contact === null) return { name, url: origin };
  return contact.startsWith("mailto:")
    ? { name, email: contact.slice("mailto:".length) }
    : { name, url: contact };
}

/** Adds a curl line to each operation, made of its examples (`x-codeSamples`). */
function withSamples(document: ApiDocument, origin: string): ApiDocument {
  for (const { method, path, operation } of operationsOf(document)) {
    const source = curlOf({ method, path, operation }, { document, origin });
    Object.assign(operation, { "x-codeSamples": [{ lang: "Shell", label: "curl", source }] });
  }
  return document;
}

function curlOf(
  { method, path, operation }: Pick<DocumentedOperation, "method" | "path" | "operation">,
  { document, origin }: { readonly document: ApiDocument; readonly origin: string },
): string {
  const parameters = (operation.parameters ?? []).flatMap((one) => ("$ref" in one ? [] : [one]));
  const exampled = (place: string) =>
    parameters
      .filter((one) => one.in === place && one.required === true)
      .map((one) => [one.name, String(one.example ?? exampleOf(one.schema, document))] as const);
  const filled = exampled("path").reduce((at, [name, value]) => at.replace(`{${name}}`, value), path);
  const query = new URLSearchParams(Object.fromEntries(exampled("query")));
  const content = memberOf(memberOf(operation.requestBody, "content"), "application/json");
  const schemes = (operation.security ?? []).flatMap((one) => Object.keys(one));
  return [
    `curl ${method === "GET" ? "" : `-X ${method} `}'${origin}${filled}${query.size === 0 ? "" : `?${query}`}'`,
    ...(schemes.includes("ApiKey") ? [`-H "X-API-Key: $KEY"`] : []),
    ...(content === undefined
      ? []
      : [
          `-H 'Content-Type: application/json'`,
          `-d '${JSON.stringify(memberOf(content, "example")).replaceAll("'", "'\\''")}'`,
        ]),
  ].join(" \\\n  ");
}

/** Adds an example to each answer, request and webhook, made of the examples of their members. */
function withExamples(document: ApiDocument): ApiDocument {
  const described = [...operationsOf(document), ...webhooksOf(document)];
  const bodies = described.flatMap(({ operation }) => [operation.requestBody, operation.responses?.["200"]]);
  for (const body of bodies) {
    const content = memberOf(memberOf(body, "content"), "application/json");
    if (typeof content !== "object" || content === null) continue;
    Object.assign(content, { example: exampleOf(memberOf(content, "schema"), document) });
  }
  return document;
}

const EXAMPLES_OF_FORMATS: Readonly<Record<string, string>> = {
  "date-time": "2026-11-20T10:00:00.000Z",
  date: "2026-11-20",
  uuid: "7c9e6679-7425-40de-944b-e07fc1f90ae7",
};

/**
 * An example that a schema accepts: its own, else one made of its members, of which optional ones are left out unless they have
 * an example. A list has one entry; of alternatives the first one other than null is taken.
 */
export function exampleOf(schema: unknown, document: Pick<ApiDocument, "components">): unknown {
  const own = memberOf(schema, "example");
  if (own !== undefined) return own;
  const within = (part: unknown) => exampleOf(part, document);
  if (memberOf(schema, "$ref") !== undefined) return within(resolveSchema(schema, document));
  const [first] = alternativesOf(schema);
  if (first !== undefined) return within(first);
  const values = memberOf(schema, "enum");
  if (Array.isArray(values)) return values[0];
  switch ([memberOf(schema, "type")].flat()[0]) {
    case "object": {
      const required = [memberOf(schema, "required") ?? []].flat();
      const shown = Object.entries(memberOf(schema, "properties") ?? {}).filter(
        ([name, member]) => required.includes(name) || memberOf(member, "example") !== undefined,
      );
      return Object.fromEntries(shown.map(([name, member]) => [name, within(member)]));
    }
    case "array":
      return [within(memberOf(schema, "items"))];
    case "integer":
    case "number":
      return memberOf(schema, "minimum") ?? (memberOf(schema, "exclusiveMinimum") === undefined ? 0 : 1);
    case "boolean":
      return false;
    case "string":
      return EXAMPLES_OF_FORMATS[String(memberOf(schema, "format"))] ?? "text";
    default:
      return null;
  }
}

/** Alternatives of a schema other than null, or the reference that it adds to; those with examples first. */
function alternativesOf(schema: unknown): readonly unknown[] {
  const parts = memberOf(schema, "anyOf") ?? memberOf(schema, "oneOf") ?? memberOf(schema, "allOf");
  const shown = Array.isArray(parts) ? parts.filter((part) => memberOf(part, "type") !== "null") : [];
  return [...shown.filter((part) => memberOf(part, "example") !== undefined), ...shown];
}

/**
 * Rewrites nullable references: the generator writes `allOf` of the component and {type: [object, null]}, which null never
 * satisfies.
 */
function withNullableReferences<Description>(description: Description): Description {
  // The walk changes schemas only, and keeps their meaning.
  return rewritten(description) as Description;
}

function rewritten(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(rewritten);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [name, rewritten(member)] as const);
  const schema = Object.fromEntries(members);
  const { allOf, ...rest } = schema;
  if (!Array.isArray(allOf) || allOf.length !== 2) return schema;
  const [reference, { type, ...notes }] = allOf;
  if (reference.$ref === undefined || !Array.isArray(type) || !type.includes("null")) return schema;
  return { anyOf: [reference, { type: "null" }], ...notes, ...rest };
}

export type Operation = NonNullable<NonNullable<ApiDocument["paths"]>[string]["get"]>;

/** One operation of the document, with the price that it states. */
export type DocumentedOperation = {
  /** Upper-case. */
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
  /** The stated price in thousandths of a US dollar; null where it is free. */
  readonly priceUnits: number | null;
  /** The least price of a request; null where it is free. */
  readonly leastUnits: number | null;
  /** Whether a metered payment is charged by the answer. */
  readonly isMetered: boolean;
  /** Whether payments are taken that an escrow holds. */
  readonly isCaptured: boolean;
};

/** The operations of a document, in its order. */
export function operationsOf(document: ApiDocument): readonly DocumentedOperation[] {
  return Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    (["get", "post", "put", "delete"] as const).flatMap((method) => {
      const operation = item[method];
      if (operation === undefined) return [];
      const price = memberOf(operation, "x-price-usd");
      const priceUnits = typeof price === "number" ? Math.round(price * 1000) : null;
      const info = memberOf(operation, "x-payment-info");
      const least = memberOf(memberOf(info, "price"), "min");
      const leastUnits = typeof least === "string" ? Math.round(Number(least) * 1000) : priceUnits;
      const isMetered = memberOf(info, "metered") === true;
      const isCaptured = memberOf(info, "captured") === true;
      const prices = { priceUnits, leastUnits };
      return [{ method: method.toUpperCase(), path, operation, ...prices, isMetered, isCaptured }];
    }),
  );
}

/** The webhooks of a document, in its order. */
export function webhooksOf(
  document: ApiDocument,
): readonly { readonly name: string; readonly operation: Operation }[] {
  return Object.entries(document.webhooks ?? {}).flatMap(([name, item]) => {
    const operation = "post" in item ? item.post : undefined;
    return operation === undefined ? [] : [{ name, operation }];
  });
}

/** A member of a value; undefined if the value is not an object. */
export function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

/** A schema, or the component that it refers to. */
function resolveSchema(schema: unknown, document: Pick<ApiDocument, "components">): unknown {
  const reference = memberOf(schema, "$ref");
  if (typeof reference !== "string") return schema;
  return document.components?.schemas?.[reference.replace("#/components/schemas/", "")];
}

/** A schema with every reference resolved; our schemas are not recursive. */
export function inlineSchema(schema: unknown, document: ApiDocument): unknown {
  const resolved = resolveSchema(schema, document);
  if (Array.isArray(resolved)) return resolved.map((item) => inlineSchema(item, document));
  if (typeof resolved !== "object" || resolved === null) return resolved;
  return Object.fromEntries(
    Object.entries(resolved).map(([name, member]) => [name, inlineSchema(member, document)]),
  );
}

/** Paths of the documents of an interface. */
export type Places = {
  readonly documentPath: `/${string}`;
  readonly referencePath: `/${string}`;
};

/** A mounted interface with its document. */
export type ServedDocument = Places &
  Pick<DescribedInterface, "title" | "purpose" | "advice" | "endpoints"> & {
    readonly document: ApiDocument;
  };
