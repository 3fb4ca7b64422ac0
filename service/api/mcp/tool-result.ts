import type { CallToolResult } from "@modelcontextprotocol/server";

/**
 * The HTTP answer as a tool's result: JSON as text and as structured content, an image as one. A 402 is an error whose
 * structured content is the terms (x402 transport for MCP) with the price and the URL to pay at; other refusals carry their body.
 */
export async function toolResult(response: Response, asked: Request): Promise<CallToolResult> {
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
