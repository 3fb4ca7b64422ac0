import { html } from "hono/html";
import { PROBLEMS } from "../../access/problems.ts";
import {
  type ApiDocument,
  type DocumentedOperation,
  memberOf,
  type Operation,
  operationsOf,
  priceText,
  resolveSchema,
  type ServedDocument,
  webhooksOf,
} from "../kit/openapi-document.ts";
import type { PageContent } from "./frame.ts";
import { type Fragment, renderProse } from "./prose.ts";

export function renderReference(one: ServedDocument, others: readonly ServedDocument[]): PageContent {
  const { document, documentPath, referencePath, purpose } = one;
  const operations = operationsOf(document);
  return {
    title: `${document.info.title} reference`,
    path: referencePath,
    description: purpose,
    body: html`<div class="reference">
<header>
<h1>${document.info.title} reference</h1>
${(document.info.description ?? "").split("\n\n").map((paragraph) => html`<p>${renderProse(paragraph)}</p>`)}
<p>For machines: <a href="${documentPath}">OpenAPI 3.1</a>, <a href="/llms.txt">llms.txt</a>, <code>/.well-known/x402</code>, and <code>/mcp</code> for the same as tools.</p>
${others.map((other) => html`<p>Beside it: <a href="${other.referencePath}">${other.title}</a>. ${other.purpose}</p>`)}
</header>
<h2>Endpoints</h2>
${renderIndex(operations)}
<h2 id="credentials">Credentials</h2>
${renderCredentials(document)}
<h2>Each endpoint</h2>
${operations.map((entry) => renderOperation(entry, document))}
<h2 id="webhooks">Webhooks</h2>
<p>Sent to subscribers by Standard Webhooks 1.0.0, at least once, under one <code>webhook-id</code>.</p>
${webhooksOf(document).map((entry) => renderWebhook(entry, document))}
${renderProblems()}
</div>`,
  };
}

function renderIndex(entries: readonly DocumentedOperation[]): Fragment {
  return html`<div class="scroll" tabindex="0"><table class="index">
<thead><tr><th>Endpoint</th><th>Price</th><th>Purpose</th></tr></thead>
<tbody>${entries.map(
    ({ method, path, operation, priceUnits }) => html`
<tr><td><a href="#${anchorOf(operation)}"><code>${method} ${path}</code></a></td><td class="once">${priceUnits === null ? "free" : `${priceText(priceUnits)} USD`}</td><td>${operation.summary}</td></tr>`,
  )}</tbody>
</table></div>`;
}

function renderOperation(
  { method, path, operation, priceUnits }: DocumentedOperation,
  document: ApiDocument,
): Fragment {
  return html`
<article id="${anchorOf(operation)}">
<h3><span class="method">${method}</span> <code>${path}</code></h3>
<p class="price">${priceUnits === null ? "Free" : `${priceText(priceUnits)} USD a call`}</p>
<p>${renderProse(operation.description)}</p>
${renderParameters(operation)}
${renderBody(operation, document)}
${renderExample(operation)}
${renderMembers(operation, document)}
${renderResponses(operation)}
</article>`;
}

function renderParameters(operation: Operation): Fragment | string {
  const parameters = (operation.parameters ?? []).flatMap((one) => ("$ref" in one ? [] : [one]));
  if (parameters.length === 0) return "";
  return html`<div class="scroll" tabindex="0"><table>
<thead><tr><th>Parameter</th><th>In</th><th>Meaning</th></tr></thead>
<tbody>${parameters.map(
    (one) => html`
<tr><td><code>${one.name}</code></td><td>${one.in}</td><td>${renderProse([one.description, valuesOf(one.schema)].filter(Boolean).join(": "))}</td></tr>`,
  )}</tbody>
</table></div>`;
}

function renderExample(operation: Operation): Fragment | string {
  const success = operation.responses?.["200"];
  const example: unknown = success?.content?.["application/json"]?.example;
  if (example === undefined) return "";
  return html`<p>Answer:</p><pre tabindex="0"><code>${JSON.stringify(example, null, 2)}</code></pre>`;
}

function renderCredentials(document: ApiDocument): Fragment {
  const schemes = Object.entries(document.components?.securitySchemes ?? {});
  return html`<dl>${schemes.map(([name, scheme]) => {
    const header = memberOf(scheme, "name") ?? "Authorization: Bearer";
    const description = memberOf(scheme, "description");
    return html`
<dt><code>${String(header)}</code> (${name})</dt>
<dd>${renderProse(typeof description === "string" ? description : "An API key: bought from `POST /keys` where the service sells them, or the operator's.")}</dd>`;
  })}</dl>`;
}

function renderWebhook(
  { name, operation }: ReturnType<typeof webhooksOf>[number],
  document: ApiDocument,
): Fragment {
  const content = memberOf(memberOf(operation.requestBody, "content"), "application/json");
  return html`
<article id="webhook-${name}">
<h3><code>${name}</code></h3>
<p>${renderProse(operation.summary)}</p>
${renderParameters(operation)}
<pre tabindex="0"><code>${JSON.stringify(memberOf(content, "example"), null, 2)}</code></pre>
${renderMemberTable(memberOf(content, "schema"), { document, side: "answer" })}
</article>`;
}

function renderBody(operation: Operation, document: ApiDocument): Fragment | string {
  const content = memberOf(memberOf(operation.requestBody, "content"), "application/json");
  if (content === undefined) return "";
  const schema = resolveSchema(memberOf(content, "schema"), document);
  const example = memberOf(content, "example") ?? memberOf(schema, "example");
  return html`<p>Body:</p>${example === undefined ? "" : html`<pre tabindex="0"><code>${JSON.stringify(example, null, 2)}</code></pre>`}
${renderMemberTable(schema, { document, side: "request" })}`;
}

/** The members of an answer that its example does not explain. */
function renderMembers(operation: Operation, document: ApiDocument): Fragment | string {
  const schema = resolveSchema(operation.responses?.["200"]?.content?.["application/json"]?.schema, document);
  return renderMemberTable(schema, { document, side: "answer" });
}

function renderResponses(operation: Operation): Fragment {
  const responses = Object.entries(operation.responses ?? {});
  return html`<div class="scroll" tabindex="0"><table>
<thead><tr><th>Status</th><th>When</th></tr></thead>
<tbody>${responses.map(
    ([status, response]) => html`
<tr><td>${status}</td><td>${"description" in response ? response.description : ""}</td></tr>`,
  )}</tbody>
</table></div>`;
}

function renderProblems(): Fragment {
  return html`<h2>Problems</h2>
<div class="scroll" tabindex="0"><table>
<thead><tr><th>Type</th><th>Status</th><th>Title</th></tr></thead>
<tbody>${Object.entries(PROBLEMS).map(
    ([code, { status, title }]) => html`
<tr id="problem-${code}"><td><code>${code}</code></td><td>${status}</td><td>${title}</td></tr>`,
  )}</tbody>
</table></div>`;
}

function anchorOf(operation: Operation): string {
  return operation.operationId ?? "";
}

/** request: shows required members and defaults. answer: all members are present. */
type Side = "request" | "answer";

/** Maximum depth; the example shows deeper members. */
const MAX_DEPTH = 3;

function renderMemberTable(
  schema: unknown,
  { document, side }: { document: ApiDocument; side: Side },
): Fragment | string {
  const members = membersOf(schema, { document, side, prefix: "", depth: 1 });
  const shown = side === "request" ? members : members.filter(({ meaning }) => meaning !== "");
  if (shown.length === 0) return "";
  return html`<div class="scroll"><table class="members">
<thead><tr><th>Member</th>${side === "request" ? html`<th>Form</th>` : ""}<th>Meaning</th></tr></thead>
<tbody>${shown.map(
    ({ name, form, meaning }) => html`
<tr><td><code>${name}</code></td>${side === "request" ? html`<td>${form}</td>` : ""}<td>${renderProse(meaning)}</td></tr>`,
  )}</tbody>
</table></div>`;
}

/** Members by dotted path, where [] means each item of a list; `form` is type and limits, empty if the schema states none. */
function membersOf(
  schema: unknown,
  place: { document: ApiDocument; side: Side; prefix: string; depth: number },
): readonly { name: string; form: string; meaning: string }[] {
  const { document, side, prefix, depth } = place;
  const object = plain(schema, document);
  const required = memberOf(object, "required");
  return Object.entries(memberOf(object, "properties") ?? {}).flatMap(([key, member]) => {
    const resolved = plain(member, document);
    const items = memberOf(resolved, "items");
    const name = `${prefix}${key}${items === undefined ? "" : "[]"}`;
    const isRequired = Array.isArray(required) && required.includes(key);
    const own = {
      name: `${prefix}${key}`,
      form: side === "request" ? formOf(resolved, isRequired) : "",
      meaning: [memberOf(member, "description") ?? memberOf(resolved, "description"), valuesOf(resolved)]
        .filter(Boolean)
        .join(": "),
    };
    if (depth === MAX_DEPTH) return [own];
    const within = membersOf(items ?? resolved, { ...place, prefix: `${name}.`, depth: depth + 1 });
    return [own, ...within];
  });
}

/** A schema without reference and null alternative. */
function plain(schema: unknown, document: ApiDocument): unknown {
  const resolved = resolveSchema(schema, document);
  const alternatives = memberOf(resolved, "anyOf") ?? memberOf(resolved, "oneOf");
  if (!Array.isArray(alternatives)) return resolved;
  const [first, ...more] = alternatives.filter((one) => memberOf(one, "type") !== "null");
  return more.length === 0 && first !== undefined ? resolveSchema(first, document) : resolved;
}

function formOf(schema: unknown, isRequired: boolean): string {
  const standard = memberOf(schema, "default");
  const [least, most] = [memberOf(schema, "minLength"), memberOf(schema, "maxLength")];
  const [from, to] = [memberOf(schema, "minimum"), memberOf(schema, "maximum")];
  const items = memberOf(schema, "maxItems");
  return [
    isRequired ? "required" : "",
    typeOf(schema),
    typeof most === "number"
      ? `${typeof least === "number" ? `${least} to` : "at most"} ${grouped(most)} characters`
      : "",
    typeof from === "number" ? `from ${grouped(from)}` : "",
    typeof to === "number" ? `to ${grouped(to)}` : "",
    typeof items === "number" ? `at most ${items} items` : "",
    standard === undefined ? "" : `default ${JSON.stringify(standard)}`,
  ]
    .filter(Boolean)
    .join(", ");
}

function typeOf(schema: unknown): string {
  const type = memberOf(schema, "type");
  const names = Array.isArray(type) ? type.join(" or ") : typeof type === "string" ? type : "";
  const format = memberOf(schema, "format");
  return typeof format === "string" ? `${names} (${format})` : names;
}

function grouped(count: number): string {
  return count.toLocaleString("en-GB");
}

/** The values of an enumeration, or of a list of them. */
function valuesOf(schema: unknown): string {
  const values: unknown = memberOf(schema, "enum") ?? memberOf(memberOf(schema, "items"), "enum");
  return Array.isArray(values) ? values.filter((value) => value !== null).join(", ") : "";
}
