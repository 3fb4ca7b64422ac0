import { isDeepStrictEqual } from "node:util";
import type { PaymentRequirements } from "@x402/core/types";
import type { Hono } from "hono";
import type { JWK } from "jose";
import type { Address } from "viem";
import { type PaidRequest, priceText } from "../../access/access.ts";
import { didOf } from "../../access/payments/offer-receipt.ts";
import { toEip55 } from "../schemas/values.ts";
import { answer, staticDocument } from "./answer.ts";
import type { ApiEnv, Clock } from "./api-env.ts";
import { mountPage } from "./mount-endpoints.ts";
import {
  type ApiDocument,
  type DocumentedOperation,
  inlineSchema,
  memberOf,
  operationsOf,
  type ServedDocument,
} from "./openapi-document.ts";

/** Facts of the deployment that its documents name. */
export type Discovery = {
  /** Scheme, host and port of the service. */
  readonly origin: string;
  /** The `accepts` of a price in thousandths of a US dollar; null if the deployment takes no payments. */
  readonly paymentTerms:
    | ((priced: Pick<PaidRequest, "units" | "isMetered" | "isCaptured">) => readonly PaymentRequirements[])
    | null;
  /** A wallet that the index follows, or any wallet if it follows none. */
  readonly sampleWallet: () => Promise<Address>;
  /** An agent with a wallet, or agent 1 of the identity registry, known or not. */
  readonly sampleAgent: () => Promise<{ readonly registry: Address; readonly agentId: bigint }>;
  /** Contracts that settle escrows by verdicts, in EIP-55; null if none do. */
  readonly evaluation: {
    readonly chainId: number;
    readonly evaluator: Address;
    readonly escrows: readonly { readonly address: Address; readonly generation: string }[];
  } | null;
  /** The service's own entry in the identity registry, whose address is in CAIP-10; null if it names none. */
  readonly registration: { readonly agentId: number; readonly agentRegistry: string } | null;
  /** Addresses of the deployment's contracts by name, in EIP-55; null for one that it does not have. */
  readonly contracts: Readonly<Record<string, Address | null>>;
  /** mailto: or https: URI for vulnerability reports; null if none is set. */
  readonly securityContact: string | null;
};

/** Public keys of receipts (RFC 7517), the current one first; empty if no receipts are signed. */
export type PublicKeys = { readonly keys: readonly JWK[] };

type PaymentTerms = NonNullable<Discovery["paymentTerms"]>;

const CACHED = { "cache-control": "public, max-age=300" } as const;
const JSON_CACHED = { "content-type": "application/json", ...CACHED } as const;
const PLAIN = { "content-type": "text/plain; charset=utf-8", ...CACHED } as const;

/** Mounts the well-known documents. All but the keys derive from the OpenAPI documents. */
export function mountDiscovery(
  app: Hono<ApiEnv>,
  served: readonly ServedDocument[],
  {
    clock,
    discovery,
    publicKeys,
  }: { readonly clock: Clock; readonly discovery: Discovery; readonly publicKeys: PublicKeys },
): void {
  const { origin, paymentTerms: terms, securityContact } = discovery;
  const started = clock.now();
  if (terms !== null) {
    const manifestOf = (samples: Samples) =>
      staticDocument(
        JSON.stringify(paymentManifest(served, { origin, terms, updated: started, ...samples })),
        JSON_CACHED,
      );
    let made: { readonly of: unknown; readonly manifest: ReturnType<typeof manifestOf> } | null = null;
    mountPage(app, "/.well-known/x402", async (context) => {
      const samples = await readSamples(discovery);
      // The schemes of a facilitator may change.
      const of = { samples, accepts: terms({ units: 1, isMetered: true, isCaptured: true }) };
      if (made === null || !isDeepStrictEqual(made.of, of)) made = { of, manifest: manifestOf(samples) };
      return made.manifest(context);
    });
  }
  const registration = agentRegistration(served, discovery);
  mountPage(
    app,
    "/.well-known/agent-registration.json",
    staticDocument(JSON.stringify(registration), JSON_CACHED),
  );
  if (securityContact !== null) {
    mountPage(app, "/.well-known/security.txt", (context) =>
      answer(context, {
        status: 200,
        body: securityText(origin, securityContact, clock.now()),
        headers: PLAIN,
      }),
    );
  }
  mountPage(
    app,
    "/.well-known/jwks.json",
    staticDocument(JSON.stringify(publicKeys), { "content-type": "application/jwk-set+json", ...CACHED }),
  );
  mountPage(
    app,
    "/.well-known/did.json",
    staticDocument(JSON.stringify(didDocument(origin, publicKeys.keys)), {
      "content-type": "application/did+json",
      ...CACHED,
    }),
  );
  mountPage(app, "/llms.txt", staticDocument(llmsText(served, origin, terms !== null), PLAIN));
}

/** Subjects of example requests. */
type Samples = {
  /** A wallet that the index follows. */
  readonly wallet: Address;
  readonly agent: Awaited<ReturnType<Discovery["sampleAgent"]>>;
};

async function readSamples({
  sampleWallet,
  sampleAgent,
}: Pick<Discovery, "sampleWallet" | "sampleAgent">): Promise<Samples> {
  const [wallet, agent] = await Promise.all([sampleWallet(), sampleAgent()]);
  return { wallet, agent };
}

/** The DID document of this origin (did:web): the keys of receipts and offers, also the earlier ones. */
function didDocument(origin: string, keys: PublicKeys["keys"]) {
  const id = didOf(origin);
  const methods = keys.map((publicKeyJwk) => ({
    id: `${id}#${publicKeyJwk.kid}`,
    type: "JsonWebKey",
    controller: id,
    publicKeyJwk,
  }));
  return {
    "@context": ["https://www.w3.org/ns/did/v1", "https://w3id.org/security/jwk/v1"],
    id,
    verificationMethod: methods,
    assertionMethod: methods.map((method) => method.id),
  };
}

/** An ERC-8004 registration file (section "Agent URI and Agent Registration File"). */
type AgentRegistration = {
  readonly type: "https://eips.ethereum.org/EIPS/eip-8004#registration-v1";
  readonly name: string;
  readonly description: string;
  readonly services: readonly {
    readonly name: string;
    readonly endpoint: string;
    readonly version?: string;
  }[];
  readonly x402Support: boolean;
  readonly active: true;
  readonly registrations: readonly NonNullable<Discovery["registration"]>[];
  readonly supportedTrust: readonly string[];
  /** Addresses by name; null for a contract that the deployment does not have. */
  readonly contracts: Discovery["contracts"];
  /** The `evaluator` of jobs and its escrows; absent if outputs are not verified for jobs. */
  readonly evaluation?: NonNullable<Discovery["evaluation"]>;
};

/** The service's own registration file: its endpoints, and whether it takes x402 payments. */
function agentRegistration(
  served: readonly ServedDocument[],
  {
    origin,
    paymentTerms,
    contracts,
    evaluation,
    registration,
  }: Pick<Discovery, "origin" | "paymentTerms" | "contracts" | "evaluation" | "registration">,
): AgentRegistration {
  return {
    type: "https://eips.ethereum.org/EIPS/eip-8004#registration-v1",
    name: SERVICE_NAME,
    description: serviceDescription(served),
    services: [
      ...served.map(({ referencePath }) => ({ name: "web", endpoint: `${origin}${referencePath}` })),
      ...served.map(({ documentPath }) => ({
        name: "OpenAPI",
        endpoint: `${origin}${documentPath}`,
        version: "3.1.0",
      })),
      { name: "MCP", endpoint: `${origin}/mcp`, version: "2026-07-28" },
    ],
    x402Support: paymentTerms !== null,
    active: true,
    registrations: registration === null ? [] : [registration],
    // Feedback can be left about a registered agent alone.
    supportedTrust: registration === null || contracts.reputation_registry == null ? [] : ["reputation"],
    contracts,
    ...(evaluation === null ? {} : { evaluation }),
  };
}

/** The entry of one priced operation; `accepts` equals that of the 402 of its URL. */
type ManifestResource = {
  readonly url: string;
  /** The URL with its path parameters in braces. */
  readonly url_template: string;
  readonly method: string;
  readonly description: string;
  /** Of the example request. */
  readonly price_usd: number;
  /** An example of the body; null if none is read. */
  readonly body: unknown;
  readonly accepts: readonly PaymentRequirements[];
};

/** The manifest at /.well-known/x402 (draft-hawkins-x402-dns-discovery). */
export type PaymentManifest = {
  readonly x402Version: 2;
  readonly kind: "resource-server";
  readonly name: string;
  readonly description: string;
  readonly docs: string;
  readonly attestation: { readonly type: "none" };
  readonly updated: string;
  readonly resources: readonly ManifestResource[];
};

/** The priced operations of the documents that have a working example request, with it. */
function paymentManifest(
  served: readonly ServedDocument[],
  source: Omit<ExampleSource, "document"> & {
    /** The terms of a price in thousandths of a US dollar, equal to those of the live 402. */
    readonly terms: PaymentTerms;
    readonly updated: Date;
  },
): PaymentManifest {
  return {
    x402Version: 2,
    kind: "resource-server",
    name: SERVICE_NAME,
    description: serviceDescription(served),
    docs: `${source.origin}/docs`,
    attestation: { type: "none" },
    updated: source.updated.toISOString(),
    resources: served.flatMap(({ document }) =>
      operationsOf(document).flatMap((documented) => resourceOf(documented, { ...source, document })),
    ),
  };
}

function resourceOf(
  documented: DocumentedOperation,
  source: ExampleSource & { readonly terms: PaymentTerms },
): ManifestResource[] {
  const { method, path, operation, leastUnits, isMetered, isCaptured } = documented;
  if (leastUnits === null) return [];
  const { url, body } = exampleRequest(documented, source);
  // A verdict can be appealed by its own parties alone, so no example would work.
  if (url.includes("{")) return [];
  return [
    {
      url,
      url_template: `${source.origin}${path}`,
      method,
      description: operation.summary ?? path,
      price_usd: leastUnits / 1000,
      body,
      accepts: source.terms({ units: leastUnits, isMetered, isCaptured }),
    },
  ];
}

type ExampleSource = Samples & {
  readonly document: ApiDocument;
  /** Origin of the service, without a slash at its end. */
  readonly origin: string;
};

/** A request of an operation about a wallet or an agent, with all required parameters. */
function exampleRequest(
  { path, operation }: DocumentedOperation,
  { document, origin, wallet, agent }: ExampleSource,
): {
  readonly url: string;
  /** Null if the operation takes none. */
  readonly body: unknown;
} {
  const query = (operation.parameters ?? []).flatMap((parameter) => {
    if ("$ref" in parameter || parameter.in !== "query" || parameter.required !== true) return [];
    return [[parameter.name, exampleOf(parameter, origin)] as const];
  });
  const search = query.length === 0 ? "" : `?${new URLSearchParams(Object.fromEntries(query))}`;
  const filled = path
    .replace("{address}", toEip55(wallet))
    .replace("{registry}", toEip55(agent.registry))
    .replace("{agent_id}", String(agent.agentId));
  return {
    url: `${origin}${filled}${search}`,
    body: exampleBody(operation.requestBody, { document, wallet }),
  };
}

// URLs in examples are our own, because those exist wherever the service runs.
function exampleOf(parameter: object, origin: string): string {
  const schema = memberOf(parameter, "schema");
  const example = memberOf(parameter, "example") ?? memberOf(schema, "example");
  return memberOf(schema, "format") === "uri" ? `${origin}/livez` : String(example);
}

/** The required members of a body: the wallet for addresses, the minimum for amounts, to which the price refers. */
function exampleBody(
  requestBody: unknown,
  { document, wallet }: Pick<ExampleSource, "document" | "wallet">,
): unknown {
  const content = memberOf(memberOf(requestBody, "content"), "application/json");
  if (content === undefined) return null;
  const schema = inlineSchema(memberOf(content, "schema"), document);
  const required = memberOf(schema, "required");
  const members = (Array.isArray(required) ? required.map(String) : []).map((name) => {
    const property = memberOf(memberOf(schema, "properties"), name);
    const value = memberOf(property, "minimum") ?? memberOf(property, "example");
    return [name, name === "addresses" ? [toEip55(wallet)] : value] as const;
  });
  return Object.fromEntries(members);
}

/** The service in Markdown for language models (llms.txt): operations, prices and payment. */
function llmsText(served: readonly ServedDocument[], origin: string, takesPayments: boolean): string {
  const operations = served.flatMap(({ document, referencePath }) =>
    operationsOf(document).map((one) => ({ ...one, reference: `${origin}${referencePath}` })),
  );
  const priced = operations.filter(({ priceUnits }) => priceUnits !== null);
  const free = operations.filter(({ priceUnits }) => priceUnits === null);
  return [
    `# ${SERVICE_NAME}`,
    "",
    `> ${serviceDescription(served)}`,
    "",
    ...served.flatMap(({ advice }) => [advice, ""]),
    payingText(takesPayments),
    "",
    "## Priced endpoints",
    "",
    ...priced.map(line),
    "",
    "## Free endpoints",
    "",
    ...free.map(line),
    "",
    "## More",
    "",
    ...served.flatMap(({ documentPath, referencePath, title }) => [
      `- [OpenAPI 3.1](${origin}${documentPath}): every endpoint of ${title} with schemas and examples`,
      `- [Reference](${origin}${referencePath}): the same to read`,
    ]),
    `- [MCP](${origin}/mcp): the same as tools`,
    ...(takesPayments ? [`- [x402 manifest](${origin}/.well-known/x402): the terms of every price`] : []),
    "",
  ].join("\n");
}

function payingText(takesPayments: boolean): string {
  const byKey = "Send an API key in `X-API-Key`";
  return takesPayments
    ? `${byKey}, or pay per call by x402 version 2: a request without either is answered 402 with the terms. Only a 200 is charged; \`X-Charged-Usd\` reports how much. Official x402 clients pay at most 1 USD by default: raise the limit to the price, for this asset, with \`setSpendControls\`.`
    : `${byKey}. Only a 200 is charged.`;
}

function line(one: DocumentedOperation & { readonly reference: string }): string {
  const price = one.priceUnits === null ? "" : ` (${priceText(one.priceUnits)} USD)`;
  return `- [${one.method} ${one.path}](${one.reference}#${anchorOf(one.operation)})${price}: ${one.operation.summary ?? ""}`;
}

/** The anchor of an operation in Redoc. */
function anchorOf({ tags, operationId }: DocumentedOperation["operation"]): string {
  return `tag/${(tags?.[0] ?? "").replaceAll(" ", "-")}/operation/${operationId ?? ""}`;
}

const VALID_DAYS = 90;
const DAY_MS = 86_400_000;

/** /.well-known/security.txt (RFC 9116): the contact for vulnerability reports. */
function securityText(origin: string, contact: string, now: Date): string {
  const expires = new Date(now.getTime() + VALID_DAYS * DAY_MS);
  return [
    `Contact: ${contact}`,
    `Expires: ${expires.toISOString()}`,
    "Preferred-Languages: en",
    `Canonical: ${origin}/.well-known/security.txt`,
    "",
  ].join("\n");
}

/** The name of the service in machine-readable documents. */
export const SERVICE_NAME = "Agent Health";

/** The purposes of the mounted interfaces. */
export function serviceDescription(served: readonly Pick<ServedDocument, "purpose">[]): string {
  return served.map(({ purpose }) => purpose).join(" ");
}
