import type { Tool } from "./tool-list.ts";

type Arguments = Readonly<Record<string, unknown>>;

/** Headers that prove or pay a tool call, as the HTTP interface takes them. */
export type CallHeaders = Readonly<Record<string, string>>;

/** The HTTP request that a tool call stands for; arguments that belong to neither path nor query are its body. */
export function toolRequest(
  tool: Tool,
  args: Arguments,
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
