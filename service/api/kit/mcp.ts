import {
  type CallToolResult,
  createMcpHandler,
  fromJsonSchema,
  type JsonSchemaType,
  McpServer,
} from "@modelcontextprotocol/server";
import type { Hono } from "hono";
import type { Logger } from "pino";
import type { ApiContext, ApiEnv } from "./api-env.ts";
import { SERVICE_NAME, serviceDescription } from "./discovery.ts";
import {
  type ApiDocument,
  type DocumentedOperation,
  inlineSchema,
  memberOf,
  operationsOf,
  priceText,
  type ServedDocument,
} from "./openapi-document.ts";
import { readBody } from "./read-input.ts";

/**
 * Mounts /mcp (Streamable HTTP, stateless) with the operations as tools. The key is in X-API-Key or a bearer token. Without a
 * key a priced tool answers its price and terms; `_meta["x402/payment"]` may carry a payment.
 */
export function mountMcp(
  app: Hono<ApiEnv>,
  {
    served,
    origin,
    logger,
  }: {
    readonly served: readonly ServedDocument[];
    readonly origin: string;
    readonly logger: Logger;
  },
): void {
  const tools = served
    .flatMap(({ document }) => toolList(document))
    .map((tool) => ({ ...tool, inputSchema: inputSchemaOf(tool) }));
  const respond = async (context: ApiContext): Promise<Response> => {
    context.set("route", "/mcp");
    const { req } = context;
    const dispatch = async (request: Request) => app.fetch(request, context.env);
    const handler = createMcpHandler(
      () =>
        createServer({
          ...{ tools, served, origin, dispatch },
          headers: carriedHeaders(context),
          signal: req.raw.signal,
        }),
      { onerror: (error) => logger.debug({ err: error }, "MCP request refused") },
    );
    const body = req.raw.body === null ? {} : { body: await readBody(req) };
    const response = await handler.fetch(
      new Request(req.url, { method: req.method, headers: req.raw.headers, signal: req.raw.signal, ...body }),
    );
    return new Response(response.body, {
      status: response.status,
      headers: { ...context.get("headers"), ...Object.fromEntries(response.headers) },
    });
  };
  app.all("/mcp", respond);
}

/** Members of `_meta` that identify, prove and pay a call, with their descriptions. */
const META = {
  "x402/payment": "The x402 payment for the terms of a 402, as an object",
  "agent-health/idempotency-key":
    "A string of your choice, new for each purchase: the same call with it is answered again and charged once",
  "agent-health/claim":
    "The `claim` of an answer that is paid for and owed: the same call with it is not charged",
} as const;

function createServer({
  tools,
  served,
  origin,
  dispatch,
  headers,
  signal,
}: {
  readonly tools: readonly (Tool & { readonly inputSchema: ReturnType<typeof inputSchemaOf> })[];
  readonly served: readonly ServedDocument[];
  readonly origin: string;
  /** Sends the request of a tool through the HTTP interface, so that checks and charges are the same. */
  readonly dispatch: (request: Request) => Promise<Response>;
  readonly headers: CallHeaders;
  /** Fires when the client of the MCP request is gone. */
  readonly signal: AbortSignal;
}): McpServer {
  const server = new McpServer(
    { name: "agent-health", title: SERVICE_NAME, version: served[0]?.document.info.version ?? "" },
    {
      instructions: `${serviceDescription(served)} Calls of priced tools may carry in _meta: ${JSON.stringify(META)}.`,
    },
  );
  for (const tool of tools) {
    const { name, title, description, inputSchema } = tool;
    server.registerTool(name, { title, description, inputSchema }, async (args, call) => {
      const request = toolRequest(tool, args, {
        origin,
        headers: { ...headers, ...headersOf(call.mcpReq._meta) },
        signal: AbortSignal.any([signal, call.mcpReq.signal]),
      });
      return toolResult(await dispatch(request), request);
    });
  }
  const prices = priceList(served, tools);
  server.registerTool(
    "list_prices",
    {
      title: "Prices",
      description:
        "What every operation costs, the tool that calls it, and the members of _meta by which calls are paid and repeated. Free.",
    },
    () => ({
      content: [{ type: "text", text: JSON.stringify({ prices, meta: META }) }],
      structuredContent: { prices, meta: META },
    }),
  );
  return server;
}

// Both libraries mean JSON Schema 2020-12, and name its types differently.
function inputSchemaOf({ input }: Tool) {
  return fromJsonSchema<Readonly<Record<string, unknown>>>(input as unknown as JsonSchemaType);
}

function priceList(served: readonly ServedDocument[], tools: readonly Tool[]) {
  const operations = served.flatMap(({ document }) => operationsOf(document));
  return operations.flatMap(({ method, path, operation, priceUnits }) => {
    if (priceUnits === null) return [];
    const tool = tools.find((one) => one.method === method && one.path === path)?.name ?? null;
    const endpoint = `${method} ${path}`;
    return [{ endpoint, tool, price_usd: priceText(priceUnits), purpose: operation.summary ?? "" }];
  });
}

/** Headers of the MCP request that every tool call inherits. Values that are used once come from `_meta`. */
function carriedHeaders(context: ApiContext): CallHeaders {
  const bearer = /^Bearer (\S+)$/i.exec(context.req.header("authorization") ?? "")?.[1];
  const key = context.req.header("x-api-key") ?? bearer;
  const forwarded = context.req.header("x-forwarded-for");
  return {
    "x-request-id": context.get("requestId"),
    ...(key === undefined ? {} : { "x-api-key": key }),
    // The IP limit counts a call for the address of the MCP request.
    ...(forwarded === undefined ? {} : { "x-forwarded-for": forwarded }),
  };
}

/** The `_meta` of a tool call as HTTP headers, which the interface checks. */
function headersOf(meta: unknown): CallHeaders {
  const payment = memberOf(meta, "x402/payment");
  const key = memberOf(meta, "agent-health/idempotency-key");
  const claim = memberOf(meta, "agent-health/claim");
  return {
    ...(payment === undefined
      ? {}
      : { "payment-signature": Buffer.from(JSON.stringify(payment)).toString("base64") }),
    // As a structured string, which may hold any printable character; any other type becomes a malformed header.
    ...(key === undefined ? {} : { "idempotency-key": typeof key === "string" ? JSON.stringify(key) : "" }),
    ...(claim === undefined ? {} : { "x-payment-claim": String(claim) }),
  };
}

/** An operation of the interface as a tool; `place` says which arguments go where in the request. */
type Tool = {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: {
    readonly type: "object";
    readonly properties: Readonly<Record<string, unknown>>;
    readonly required: readonly string[];
  };
  readonly method: string;
  readonly path: string;
  readonly priceUnits: number | null;
  readonly place: { readonly path: readonly string[]; readonly query: readonly string[] };
};

/** Operations that are tools, with the names of the tools. All others are for operators and crawlers. */
const TOOL_NAMES: Readonly<Record<string, string>> = {
  "GET /ahs/{address}": "score_wallet",
  "GET /ahs/route/{address}": "route_payment",
  "POST /ahs/batch": "score_wallets",
  "GET /ahs/route/policy": "get_routing_policy",
  "PUT /ahs/route/policy": "set_routing_policy",
  "GET /risk/{address}": "check_risk",
  "GET /risk/premium/{address}": "check_premium_risk",
  "GET /counterparties/{address}": "list_counterparties",
  "GET /network-map/{address}": "map_network",
  "GET /health/{address}": "diagnose_wallet",
  "POST /wash/{address}": "scan_financial_health",
  "GET /optimize/{address}": "optimize_gas",
  "GET /retry/{address}": "plan_retries",
  "GET /agent/protect/{address}": "protect_wallet",
  "GET /report-card/{address}": "draw_report_card",
  "GET /alerts/subscribe/{address}": "subscribe_alerts",
  "GET /keys/self": "get_balance",
  "POST /v1/specs": "register_spec",
  "POST /v1/outputs": "verify_output",
  "GET /v1/verdicts/{verdict_id}": "get_verdict",
  "POST /v1/verdicts/{verdict_id}/evidence": "offer_evidence",
  "GET /v1/verdicts/{verdict_id}/evidence": "get_evidence",
  "GET /v1/verdicts/{verdict_id}/receipt": "get_receipt",
};

/** The tools of a document. */
function toolList(document: ApiDocument): readonly Tool[] {
  const tools = operationsOf(document).flatMap((documented) => {
    const name = TOOL_NAMES[`${documented.method} ${documented.path}`];
    return name === undefined ? [] : [toolOf(name, documented, document)];
  });
  return [...tools, ...tools.filter(({ name }) => name === "score_wallet").map(explainTool)];
}

/** A second tool for the score, which requests its explaining parts. */
function explainTool(score: Tool): Tool {
  return {
    ...score,
    name: "explain_score",
    title: "Agent Health Score, line by line",
    description: `The score with every feature, its value, weight and contribution, and its history. ${priceSentence(score.priceUnits)} ${score.description}`,
    path: `${score.path}?include=features,history`,
    input: { ...score.input, properties: { address: score.input.properties.address } },
    place: { path: score.place.path, query: [] },
  };
}

function toolOf(
  name: string,
  { method, path, operation, priceUnits }: DocumentedOperation,
  document: ApiDocument,
): Tool {
  const parameters = (operation.parameters ?? []).flatMap((one) => ("$ref" in one ? [] : [one]));
  const named = (place: string) => parameters.filter((parameter) => parameter.in === place);
  const fromParameters = [...named("path"), ...named("query")].map((parameter) => {
    const schema = inlineSchema(parameter.schema, document);
    const described = { ...(typeof schema === "object" ? schema : {}), description: parameter.description };
    return [parameter.name, described] as const;
  });
  const content = memberOf(memberOf(operation.requestBody, "content"), "application/json");
  const body = inlineSchema(memberOf(content, "schema"), document);
  const bodyRequired: unknown = memberOf(body, "required");
  return {
    name,
    title: operation.summary ?? name,
    description: `${operation.summary ?? name}. ${priceSentence(priceUnits)} ${operation.description ?? ""}`,
    input: {
      type: "object",
      properties: { ...Object.fromEntries(fromParameters), ...propertiesOf(body) },
      required: [
        ...parameters
          .filter((one) => one.required === true && one.in !== "header")
          .map((parameter) => parameter.name),
        ...(Array.isArray(bodyRequired) ? bodyRequired.map(String) : []),
      ],
    },
    method,
    path,
    priceUnits,
    place: { path: named("path").map((one) => one.name), query: named("query").map((one) => one.name) },
  };
}

function propertiesOf(schema: unknown): Readonly<Record<string, unknown>> {
  const properties = memberOf(schema, "properties");
  return typeof properties === "object" && properties !== null ? { ...properties } : {};
}

function priceSentence(units: number | null): string {
  return units === null ? "Free." : `Costs ${priceText(units)} USD.`;
}

/** Headers that prove or pay a tool call, as the HTTP interface takes them. */
type CallHeaders = Readonly<Record<string, string>>;

/** The HTTP request of a tool call. Arguments that belong to neither path nor query form the body. */
function toolRequest(
  tool: Tool,
  args: Readonly<Record<string, unknown>>,
  from: { readonly origin: string; readonly headers: CallHeaders; readonly signal: AbortSignal },
): Request {
  const { path, query } = tool.place;
  const filled = path.reduce(
    (template, name) => template.replace(`{${name}}`, encodeURIComponent(String(args[name]))),
    tool.path,
  );
  const url = new URL(filled, from.origin);
  for (const name of query) {
    const value = args[name];
    if (value !== undefined)
      url.searchParams.append(name, Array.isArray(value) ? value.join(",") : String(value));
  }
  if (tool.method === "GET") return new Request(url, { headers: from.headers, signal: from.signal });
  const rest = Object.entries(args).filter(([name]) => !path.includes(name) && !query.includes(name));
  return new Request(url, {
    method: tool.method,
    signal: from.signal,
    headers: { ...from.headers, "content-type": "application/json" },
    body: JSON.stringify(Object.fromEntries(rest)),
  });
}

/**
 * The HTTP answer as the result of a tool: JSON as text and structured content, an image as an image. The structured content of
 * a 402 is its terms (x402 transport for MCP) with the URL to pay at; that of other refusals is their body.
 */
async function toolResult(response: Response, asked: Request): Promise<CallToolResult> {
  const type = response.headers.get("content-type") ?? "";
  if (type.startsWith("image/") && type !== "image/svg+xml") {
    const data = Buffer.from(await response.arrayBuffer()).toString("base64");
    return { content: [{ type: "image", data, mimeType: type }] };
  }
  const text = await response.text();
  if (!type.includes("json")) return { content: [{ type: "text", text }] };
  const body: unknown = JSON.parse(text);
  const structured = typeof body === "object" && body !== null ? { ...body } : { value: body };
  const receipt = response.headers.get("payment-response");
  const meta = receipt === null ? {} : { _meta: { "x402/payment-response": decoded(receipt) } };
  if (response.ok) return { content: [{ type: "text", text }], structuredContent: structured, ...meta };
  const refused = response.status === 402 ? { ...structured, http: httpOf(asked) } : structured;
  return {
    isError: true,
    content: [{ type: "text", text: JSON.stringify(refused) }],
    structuredContent: refused,
    ...meta,
  };
}

function httpOf(asked: Request): { readonly method: string; readonly url: string } {
  return { method: asked.method, url: asked.url };
}

function decoded(header: string): unknown {
  return JSON.parse(Buffer.from(header, "base64").toString("utf8"));
}
