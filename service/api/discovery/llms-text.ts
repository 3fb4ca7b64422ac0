import { operationsOf, priceText } from "../document-operations.ts";
import type { ApiDocument } from "../openapi-document.ts";
import { SERVICE } from "./service-words.ts";

/** The service in Markdown for language models (llms.txt): what it answers, at which price, and how it is paid. */
export function llmsText(document: ApiDocument, origin: string, takesPayments: boolean): string {
  const operations = operationsOf(document);
  const priced = operations.filter(({ priceUnits }) => priceUnits !== null);
  const free = operations.filter(({ priceUnits }) => priceUnits === null);
  return [
    `# ${SERVICE.name}`,
    "",
    `> ${SERVICE.description}`,
    "",
    "Ask `GET /ahs/route/{address}` before paying an agent: it answers `instant_settle`, `escrow` or `reject`. A wallet without enough history is INSUFFICIENT, which is not a bad score.",
    "",
    payingText(takesPayments),
    "",
    "## Priced endpoints",
    "",
    ...priced.map((one) => line(one, origin)),
    "",
    "## Free endpoints",
    "",
    ...free.map((one) => line(one, origin)),
    "",
    "## More",
    "",
    `- [OpenAPI 3.1](${origin}/openapi.json): every endpoint with schemas and examples`,
    `- [Reference](${origin}/docs): the same to read`,
    `- [MCP](${origin}/mcp): the same as tools`,
    `- [x402 manifest](${origin}/.well-known/x402): the terms of every price`,
    "",
  ].join("\n");
}

function payingText(takesPayments: boolean): string {
  const byKey = "Send an API key in `X-API-Key`";
  return takesPayments
    ? `${byKey}, or pay per call by x402 version 2: a request without either is answered 402 with the terms. Nobody pays for an answer that is not 200. Official x402 clients refuse more than 1 USD, and any token that they do not know, unless \`setSpendControls\` allows it.`
    : `${byKey}. Nobody pays for an answer that is not 200.`;
}

function line(one: ReturnType<typeof operationsOf>[number], origin: string): string {
  const price = one.priceUnits === null ? "" : ` (${priceText(one.priceUnits)} USD)`;
  return `- [${one.method} ${one.path}](${origin}/docs#${one.operation.operationId ?? ""})${price}: ${one.operation.summary ?? ""}`;
}
