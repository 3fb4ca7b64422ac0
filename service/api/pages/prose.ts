import { html } from "hono/html";

/** Escaped HTML. */
export type Fragment = ReturnType<typeof html>;

/** Text in which `backquotes` mark code, as in OpenAPI's Markdown. */
export function renderProse(text: string | undefined): readonly (string | Fragment)[] {
  return (text ?? "").split("`").map((part, index) => (index % 2 === 0 ? part : html`<code>${part}</code>`));
}
