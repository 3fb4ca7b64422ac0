import {
  type CallToolResult,
  createMcpHandler,
  fromJsonSchema,
  type JsonSchemaType,
  McpServer,
} from "@modelcontextprotocol/server";
import { BAZAAR } from "@x402/extensions/bazaar";
import type { Hono } from "hono";
import type { Logger } from "pino";
import { priceText } from "../../access/access.ts";
import { spendingLimitOf } from "../../access/spending-limits.ts";
import type { ApiContext, ApiEnv } from "./api-env.ts";
import { SERVICE_NAME, serviceDescription } from "./discovery.ts";
import { type Tool, toolsOf } from "./mcp-tools.ts";
import { memberOf, operationsOf, type ServedDocument } from "./openapi-document.ts";
import { readBody } from "./read-input.ts";

/**
 * Mounts /mcp (Streamable HTTP, stateless) with the operations as tools. The key is in X-API-Key or a bearer token. Without a
 * key a priced tool answers its price and terms; `_meta["x402/payment"]` may carry a payment. Each tool call carries the limit and the
 * session of its MCP request.
 */
export function mountMcp(
  app: Hono<ApiEnv>,
  {
    served,
    origin,
    ...services
  }: {
    readonly served: readonly ServedDocument[];
    readonly origin: string;
    readonly logger: Logger;
    readonly randomId: () => string;
  },
): void {
  const tools = served.flatMap(toolsOf).map((tool) => ({ ...tool, schemas: schemasOf(tool) }));
  const respond = async (context: ApiContext): Promise<Response> => {
    context.set("route", "/mcp");
    const { req } = context;
    const dispatch = async (request: Request) => app.fetch(request, context.env);
    const header = (name: string) => req.header(name);
    const startsSession = spendingLimitOf({ header }) !== null && header("mcp-session-id") === undefined;
    const handler = createMcpHandler(
      () =>
        createServer({
          tools,
          served,
          origin,
          dispatch,
          headers: carriedHeaders(context),
          signal: req.raw.signal,
        }),
      { onerror: (error) => services.logger.debug({ err: error }, "MCP request refused") },
    );
    const body = req.raw.body === null ? {} : { body: await readBody(req) };
    const response = await handler.fetch(
      new Request(req.url, { method: req.method, headers: req.raw.headers, signal: req.raw.signal, ...body }),
    );
    return new Response(response.body, {
      status: response.status,
      headers: {
        ...context.get("headers"),
        // A client that gets an id with the answer to its first request sends it with all others.
        ...(startsSession ? { "mcp-session-id": services.randomId() } : {}),
        ...Object.fromEntries(response.headers),
      },
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
  readonly tools: readonly (Tool & { readonly schemas: ReturnType<typeof schemasOf> })[];
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
    const { name, title, description, annotations, schemas } = tool;
    server.registerTool(name, { title, description, annotations, ...schemas }, async (args, call) => {
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
        "Lists what every operation costs, the tool that calls it, and the members of _meta by which calls are paid and repeated. Use it before you plan several calls. Free.",
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    },
    () => ({
      content: [{ type: "text", text: JSON.stringify({ prices, meta: META }) }],
      structuredContent: { prices, meta: META },
    }),
  );
  return server;
}

// Both libraries mean JSON Schema 2020-12, and name its types differently.
function schemasOf({ input, output }: Tool) {
  const read = (schema: object) =>
    fromJsonSchema<Readonly<Record<string, unknown>>>(schema as JsonSchemaType);
  return { inputSchema: read(input), ...(output === null ? {} : { outputSchema: read(output) }) };
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

/** The address for the IP limit; the limit of spending and its session. */
const INHERITED_HEADERS = ["x-forwarded-for", "x-spending-limit-usd", "mcp-session-id"];

/** Headers of the MCP request that every tool call inherits. Values that are used once come from `_meta`. */
function carriedHeaders(context: ApiContext): CallHeaders {
  const bearer = /^Bearer (\S+)$/i.exec(context.req.header("authorization") ?? "")?.[1];
  const key = context.req.header("x-api-key") ?? bearer;
  const inherited = INHERITED_HEADERS.flatMap((name) => {
    const value = context.req.header(name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    ...Object.fromEntries(inherited),
    "x-request-id": context.get("requestId"),
    ...(key === undefined ? {} : { "x-api-key": key }),
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
    const image = { type: "image", data, mimeType: type } as const;
    return { content: [image, ...chargeTexts(response.headers)], ...metaOf(response.headers) };
  }
  const text = await response.text();
  if (!type.includes("json")) return { content: [{ type: "text", text }] };
  const body: unknown = JSON.parse(text);
  const structured = typeof body === "object" && body !== null ? { ...body } : { value: body };
  const meta = metaOf(response.headers);
  const content: CallToolResult["content"] = [{ type: "text", text }, ...chargeTexts(response.headers)];
  if (response.ok) return { content, structuredContent: structured, ...meta };
  const refused =
    response.status === 402 ? { ...withoutListing(structured), http: httpOf(asked) } : structured;
  return {
    isError: true,
    content: [{ type: "text", text: JSON.stringify(refused) }],
    structuredContent: refused,
    ...meta,
  };
}

/** The terms without the declaration for catalogs: the tool's schemas describe the same. */
function withoutListing(terms: object): object {
  const { [BAZAAR.key]: _, ...extensions } = Object(memberOf(terms, "extensions"));
  return { ...terms, extensions };
}

/** The receipt of a payment, the charge and the balance. */
function metaOf(headers: Headers): Pick<CallToolResult, "_meta"> {
  const receipt = headers.get("payment-response");
  const charged = headers.get("x-charged-usd");
  const balance = headers.get("x-balance-usd");
  const meta = {
    ...(receipt === null ? {} : { "x402/payment-response": decoded(receipt) }),
    ...(charged === null ? {} : { "agent-health/charged-usd": charged }),
    ...(balance === null ? {} : { "agent-health/balance-usd": balance }),
  };
  return Object.keys(meta).length === 0 ? {} : { _meta: meta };
}

/** A sentence about a charge, for the model. */
function chargeTexts(headers: Headers): CallToolResult["content"] {
  const charged = headers.get("x-charged-usd");
  if (charged === null || Number(charged) === 0) return [];
  const balance = headers.get("x-balance-usd");
  const left = balance === null ? "" : ` Balance of the key: ${balance} USD.`;
  return [{ type: "text", text: `Charged ${charged} USD.${left}` }];
}

function httpOf(asked: Request): { readonly method: string; readonly url: string } {
  return { method: asked.method, url: asked.url };
}

function decoded(header: string): unknown {
  return JSON.parse(Buffer.from(header, "base64").toString("utf8"));
}
