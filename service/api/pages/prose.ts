import { html } from "hono/html";
import { memberOf } from "../kit/openapi-document.ts";

/** Escaped HTML. */
export type Fragment = ReturnType<typeof html>;

/** Text in which `backquotes` mark code, as in OpenAPI's Markdown. */
export function renderProse(text: string | undefined): readonly (string | Fragment)[] {
  return (text ?? "").split("`").map((part, index) => (index % 2 === 0 ? part : html`<code>${part}</code>`));
}

/** The values of an enumeration, or of a list of them. */
export function valuesOf(schema: unknown): string {
  const values: unknown = memberOf(schema, "enum") ?? memberOf(memberOf(schema, "items"), "enum");
  return Array.isArray(values) ? values.filter((value) => value !== null).join(", ") : "";
}
