import { html } from "hono/html";
import { memberOf } from "../kit/openapi-document.ts";

/** A part of a page, escaped. */
export type Fragment = ReturnType<typeof html>;

/** Text of the document or of a problem, in which `backquotes` mark code as OpenAPI's Markdown has it. */
export function renderProse(text: string | undefined): readonly (string | Fragment)[] {
  return (text ?? "").split("`").map((part, index) => (index % 2 === 0 ? part : html`<code>${part}</code>`));
}

/** The values that a schema, or the items of a list, may take, if it names them. */
export function valuesOf(schema: unknown): string {
  const values: unknown = memberOf(schema, "enum") ?? memberOf(memberOf(schema, "items"), "enum");
  return Array.isArray(values) ? values.filter((value) => value !== null).join(", ") : "";
}
