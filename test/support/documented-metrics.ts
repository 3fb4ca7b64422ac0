import { readFileSync } from "node:fs";

const FILE = new URL("../../docs/operate.md", import.meta.url);

/** Names in the table of metrics of docs/operate.md. */
export function documentedMetrics(): ReadonlySet<string> {
  const text = readFileSync(FILE, "utf8");
  const rows = text.matchAll(/^\| `(ahs_\w+)(?:\{[^}]*\})?` \|/gm);
  return new Set([...rows].map(([, name = ""]) => name));
}
