import { createHash } from "node:crypto";
import { html, raw } from "hono/html";
import type { ApiDocument } from "../openapi-document.ts";
import { PROBLEMS } from "../problems.ts";
import { REFERENCE_STYLE } from "./reference-style.ts";

type PathItem = NonNullable<ApiDocument["paths"]>[string];
type Operation = NonNullable<PathItem["get"]>;
type Fragment = ReturnType<typeof html>;

/** The reference page and the policy under which a browser may show it. */
export type ReferencePage = { readonly html: string; readonly contentSecurityPolicy: string };

/** Renders the reference of an OpenAPI document; the page loads nothing, from here or elsewhere. */
export function renderReference(document: ApiDocument): ReferencePage {
  const styleHash = createHash("sha256").update(REFERENCE_STYLE).digest("base64");
  return {
    html: String(renderPage(document)),
    contentSecurityPolicy: `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  };
}

function renderPage(document: ApiDocument): Fragment {
  const operations = operationsOf(document);
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${document.info.title} reference</title>
<style>${raw(REFERENCE_STYLE)}</style>
</head>
<body>
<header>
<h1>${document.info.title} reference</h1>
<p>${document.info.description}</p>
<p>Machine-readable: <a href="/openapi.json">OpenAPI 3.1</a>. Priced endpoints take an API key in the header <code>X-API-Key</code>.</p>
</header>
<main>
<h2>Endpoints</h2>
${renderIndex(operations)}
${operations.map(renderOperation)}
${renderProblems()}
</main>
</body>
</html>`;
}

type Entry = { readonly method: string; readonly path: string; readonly operation: Operation };

function operationsOf(document: ApiDocument): readonly Entry[] {
  return Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    (["get", "post", "put", "delete"] as const).flatMap((method) => {
      const operation = item[method];
      return operation === undefined ? [] : [{ method: method.toUpperCase(), path, operation }];
    }),
  );
}

function renderIndex(entries: readonly Entry[]): Fragment {
  return html`<div class="scroll"><table>
<thead><tr><th>Endpoint</th><th>Price (USD)</th><th>Purpose</th></tr></thead>
<tbody>${entries.map(
    ({ method, path, operation }) => html`
<tr><td><a href="#${anchorOf(operation)}"><code>${method} ${path}</code></a></td><td>${priceOf(operation)}</td><td>${operation.summary}</td></tr>`,
  )}</tbody>
</table></div>`;
}

function renderOperation({ method, path, operation }: Entry): Fragment {
  return html`
<article id="${anchorOf(operation)}">
<h3><span class="method">${method}</span> <code>${path}</code></h3>
<p class="price">${priceOf(operation) === "free" ? "Free" : `${priceOf(operation)} USD a call`}</p>
<p>${operation.description}</p>
${renderParameters(operation)}
${renderExample(operation)}
${renderResponses(operation)}
</article>`;
}

function renderParameters(operation: Operation): Fragment | string {
  const parameters = (operation.parameters ?? []).flatMap((one) => ("$ref" in one ? [] : [one]));
  if (parameters.length === 0) return "";
  return html`<div class="scroll"><table>
<thead><tr><th>Parameter</th><th>In</th><th>Meaning</th></tr></thead>
<tbody>${parameters.map(
    (one) => html`
<tr><td><code>${one.name}</code></td><td>${one.in}</td><td>${one.description ?? schemaText(one.schema)}</td></tr>`,
  )}</tbody>
</table></div>`;
}

function schemaText(schema: unknown): string {
  if (typeof schema !== "object" || schema === null) return "";
  const description: unknown = Reflect.get(schema, "description");
  return typeof description === "string" ? description : "";
}

function renderExample(operation: Operation): Fragment | string {
  const success = operation.responses?.["200"];
  const example: unknown = success?.content?.["application/json"]?.example;
  if (example === undefined) return "";
  return html`<p>Answer:</p><pre><code>${JSON.stringify(example, null, 2)}</code></pre>`;
}

function renderResponses(operation: Operation): Fragment {
  const responses = Object.entries(operation.responses ?? {});
  return html`<div class="scroll"><table>
<thead><tr><th>Status</th><th>When</th></tr></thead>
<tbody>${responses.map(
    ([status, response]) => html`
<tr><td>${status}</td><td>${"description" in response ? response.description : ""}</td></tr>`,
  )}</tbody>
</table></div>`;
}

function renderProblems(): Fragment {
  return html`<h2>Problems</h2>
<div class="scroll"><table>
<thead><tr><th>Type</th><th>Status</th><th>Title</th></tr></thead>
<tbody>${Object.entries(PROBLEMS).map(
    ([code, { status, title }]) => html`
<tr id="problem-${code}"><td><code>${code}</code></td><td>${status}</td><td>${title}</td></tr>`,
  )}</tbody>
</table></div>`;
}

function priceOf(operation: Operation): string {
  const price: unknown = Reflect.get(operation, "x-price-usd");
  return typeof price === "number" ? price.toFixed(3).replace(/0$/, "") : "free";
}

function anchorOf(operation: Operation): string {
  return operation.operationId ?? "";
}
