import { html } from "hono/html";
import { priceText } from "../../access/access.ts";
import { operationsOf, type ServedDocument } from "../kit/openapi-document.ts";
import type { PageContent } from "./frame.ts";
import { type Fragment, renderProse } from "./prose.ts";

/**
 * The reference of an interface: Redoc on its OpenAPI document. Without scripts the page is a table of the endpoints. `viewer` is the
 * path of Redoc's bundle; null for a server without pages.
 */
export function renderReference(
  one: ServedDocument,
  others: readonly ServedDocument[],
  viewer: string | null,
): PageContent {
  const { document, documentPath, referencePath, purpose } = one;
  return {
    title: `${document.info.title} reference`,
    path: referencePath,
    description: purpose,
    ...(viewer === null ? {} : { script: "reference.js" }),
    body: html`<div class="reference">
<p class="small">${purpose} For programs: <a href="${documentPath}">OpenAPI 3.1</a>, <a href="/llms.txt">llms.txt</a>, and MCP at <code>/mcp</code>. <a href="/docs/problems">Errors explained</a>. ${others.map(
      (other) => html`<a href="${other.referencePath}">${other.title}</a>. `,
    )}</p>
<div id="reference" data-document="${documentPath}">
<h1>${document.info.title} reference</h1>
${renderIndex(one)}
</div>
</div>
${viewer === null ? "" : html`<script src="${viewer}" defer></script>`}`,
  };
}

function renderIndex({ document }: ServedDocument): Fragment {
  return html`<div class="scroll" tabindex="0"><table>
<thead><tr><th>Endpoint</th><th>Price</th><th>Purpose</th></tr></thead>
<tbody>${operationsOf(document).map(
    ({ method, path, operation, priceUnits }) => html`
<tr><td>${method} <code>${path}</code></td><td class="whole">${priceUnits === null ? "free" : `${priceText(priceUnits)} USD`}</td><td>${renderProse(operation.summary)}</td></tr>`,
  )}</tbody>
</table></div>`;
}
