import {
  createMcpHandler,
  fromJsonSchema,
  type JsonSchemaType,
  McpServer,
} from "@modelcontextprotocol/server";
import type { Hono } from "hono";
import type { Logger } from "pino";
import type { ApiContext, ApiEnv } from "../api-env.ts";
import { SERVICE } from "../discovery/service-words.ts";
import { operationsOf, priceText } from "../document-operations.ts";
import type { ApiDocument } from "../openapi-document.ts";
import { type Tool, toolList } from "./tool-list.ts";
import { type CallHeaders, toolRequest } from "./tool-request.ts";
import { toolResult } from "./tool-result.ts";

export type McpDeps = {
  readonly document: ApiDocument;
  readonly origin: string;
  readonly logger: Logger;
};

/** Answers a request of a tool by the interface itself, so that checks and charges are the same. */
type Dispatch = (request: Request) => Promise<Response>;

/**
 * Mounts /mcp (Streamable HTTP, stateless): the interface's operations as tools, for keys in X-API-Key or as a bearer
 * token. Without one a priced tool answers its price and the terms; a payment may stand in `_meta["x402/payment"]`.
 */
export function mountMcp(app: Hono<ApiEnv>, { document, origin, logger }: McpDeps): void {
  const tools = toolList(document).map((tool) => ({ ...tool, inputSchema: inputSchemaOf(tool) }));
  const respond = async (context: ApiContext): Promise<Response> => {
    context.set("route", "/mcp");
    const dispatch: Dispatch = async (request) => app.fetch(request, context.env);
    const handler = createMcpHandler(
      () => createServer({ tools, document, origin, dispatch, headers: carriedHeaders(context) }),
      { onerror: (error) => logger.debug({ err: error }, "MCP request refused") },
    );
    const response = await handler.fetch(context.req.raw);
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
  readonly document: ApiDocument;
  readonly origin: string;
  readonly dispatch: Dispatch;
  readonly headers: CallHeaders;
};

function createServer({ tools, document, origin, dispatch, headers }: ServerParts): McpServer {
  const server = new McpServer(
    { name: "agent-health", title: SERVICE.name, version: document.info.version },
    { instructions: SERVICE.description },
  );
  for (const tool of tools) {
    const { name, title, description, inputSchema } = tool;
    server.registerTool(name, { title, description, inputSchema }, async (args, call) => {
      const request = toolRequest(tool, args, { origin, headers: { ...headers, ...paymentOf(call) } });
      return toolResult(await dispatch(request), request);
    });
  }
  const prices = priceList(document, tools);
  server.registerTool(
    "list_prices",
    { title: "Prices", description: "What every operation costs, and the tool that calls it. Free." },
    () => ({ content: [{ type: "text", text: JSON.stringify(prices) }], structuredContent: { prices } }),
  );
  return server;
}

// Both libraries mean JSON Schema 2020-12, and name its types differently.
function inputSchemaOf({ input }: Tool) {
  return fromJsonSchema<Readonly<Record<string, unknown>>>(input as unknown as JsonSchemaType);
}

function priceList(document: ApiDocument, tools: readonly Tool[]) {
  return operationsOf(document).flatMap(({ method, path, operation, priceUnits }) => {
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

/** The x402 payment of a tool call as the header that the HTTP interface reads. */
function paymentOf(call: { readonly mcpReq?: { readonly _meta?: unknown } }): CallHeaders {
  const meta = call.mcpReq?._meta;
  if (typeof meta !== "object" || meta === null) return {};
  const payment: unknown = Reflect.get(meta, "x402/payment");
  if (payment === undefined) return {};
  return { "payment-signature": Buffer.from(JSON.stringify(payment)).toString("base64") };
}
