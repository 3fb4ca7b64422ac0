import {
  createMcpHandler,
  fromJsonSchema,
  type JsonSchemaType,
  McpServer,
} from "@modelcontextprotocol/server";
import type { Hono } from "hono";
import type { Logger } from "pino";
import type { ApiContext, ApiEnv } from "../api-env.ts";
import { SERVICE_NAME, serviceDescription } from "../discovery/service-words.ts";
import { memberOf, operationsOf, priceText } from "../document-operations.ts";
import type { ServedDocument } from "../served-document.ts";
import { readBody } from "../validation/read-body.ts";
import { type Tool, toolList } from "./tool-list.ts";
import { type CallHeaders, toolRequest } from "./tool-request.ts";
import { toolResult } from "./tool-result.ts";

export type McpDeps = {
  readonly served: readonly ServedDocument[];
  readonly origin: string;
  readonly logger: Logger;
};

/** Answers a request of a tool by the interface itself, so that checks and charges are the same. */
type Dispatch = (request: Request) => Promise<Response>;

/**
 * Mounts /mcp (Streamable HTTP, stateless): the operations of the interfaces as tools, for keys in X-API-Key or as a bearer
 * token. Without one a priced tool answers its price and the terms; a payment may stand in `_meta["x402/payment"]`.
 */
export function mountMcp(app: Hono<ApiEnv>, { served, origin, logger }: McpDeps): void {
  const tools = served
    .flatMap(({ document }) => toolList(document))
    .map((tool) => ({ ...tool, inputSchema: inputSchemaOf(tool) }));
  const respond = async (context: ApiContext): Promise<Response> => {
    context.set("route", "/mcp");
    const { req } = context;
    const dispatch: Dispatch = async (request) => app.fetch(request, context.env);
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

/** A tool with the schema that the library checks arguments by, compiled once. */
type ServedTool = Tool & { readonly inputSchema: ReturnType<typeof inputSchemaOf> };

type ServerParts = {
  readonly tools: readonly ServedTool[];
  readonly served: readonly ServedDocument[];
  readonly origin: string;
  readonly dispatch: Dispatch;
  readonly headers: CallHeaders;
  /** Fires when the client of the MCP request is gone. */
  readonly signal: AbortSignal;
};

/** Members of `_meta` by which a call is told apart from others, proven and paid, with what they are for. */
const META = {
  "x402/payment": "The x402 payment for the terms of a 402, as an object",
  "agent-health/idempotency-key":
    "A string of your choice, new for each purchase: the same call with it is answered again and charged once",
  "agent-health/claim":
    "The `claim` of an answer that is paid for and owed: the same call with it is not charged",
} as const;

function createServer({ tools, served, origin, dispatch, headers, signal }: ServerParts): McpServer {
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

/** The key of the MCP request and its id; whatever is used once belongs to a single call, and is no header here. */
function carriedHeaders(context: ApiContext): CallHeaders {
  const bearer = /^Bearer (\S+)$/i.exec(context.req.header("authorization") ?? "")?.[1];
  const key = context.req.header("x-api-key") ?? bearer;
  const forwarded = context.req.header("x-forwarded-for");
  return {
    "x-request-id": context.get("requestId"),
    ...(key === undefined ? {} : { "x-api-key": key }),
    // A call counts for the address that the request came from.
    ...(forwarded === undefined ? {} : { "x-forwarded-for": forwarded }),
  };
}

/** What a tool call's `_meta` carries, as the headers that the HTTP interface reads and checks. */
function headersOf(meta: unknown): CallHeaders {
  const payment = memberOf(meta, "x402/payment");
  const key = memberOf(meta, "agent-health/idempotency-key");
  const claim = memberOf(meta, "agent-health/claim");
  return {
    ...(payment === undefined
      ? {}
      : { "payment-signature": Buffer.from(JSON.stringify(payment)).toString("base64") }),
    // As a structured string, which may hold any printable character; what is no string is refused as malformed.
    ...(key === undefined ? {} : { "idempotency-key": typeof key === "string" ? JSON.stringify(key) : "" }),
    ...(claim === undefined ? {} : { "x-payment-claim": String(claim) }),
  };
}
