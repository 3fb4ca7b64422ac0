import { type DocumentedOperation, operationsOf, priceText } from "../document-operations.ts";
import type { ServedDocument } from "../served-document.ts";
import { SERVICE_NAME, serviceDescription } from "./service-words.ts";

/** The service in Markdown for language models (llms.txt): what it answers, at which price, and how it is paid. */
export function llmsText(served: readonly ServedDocument[], origin: string, takesPayments: boolean): string {
  const operations = served.flatMap(({ document, referencePath }) =>
    operationsOf(document).map((one) => ({ ...one, reference: `${origin}${referencePath}` })),
  );
  const priced = operations.filter(({ priceUnits }) => priceUnits !== null);
  const free = operations.filter(({ priceUnits }) => priceUnits === null);
  return [
    `# ${SERVICE_NAME}`,
    "",
    `> ${serviceDescription(served)}`,
    "",
    ...served.flatMap(({ advice }) => [advice, ""]),
    payingText(takesPayments),
    "",
    "## Priced endpoints",
    "",
    ...priced.map(line),
    "",
    "## Free endpoints",
    "",
    ...free.map(line),
    "",
    "## More",
    "",
    ...served.flatMap(({ documentPath, referencePath, title }) => [
      `- [OpenAPI 3.1](${origin}${documentPath}): every endpoint of ${title} with schemas and examples`,
      `- [Reference](${origin}${referencePath}): the same to read`,
    ]),
    `- [MCP](${origin}/mcp): the same as tools`,
    ...(takesPayments ? [`- [x402 manifest](${origin}/.well-known/x402): the terms of every price`] : []),
    "",
  ].join("\n");
}

function payingText(takesPayments: boolean): string {
  const byKey = "Send an API key in `X-API-Key`";
  return takesPayments
    ? `${byKey}, or pay per call by x402 version 2: a request without either is answered 402 with the terms. Nobody pays for an answer that is not 200. Official x402 clients refuse more than 1 USD, and any token that they do not know, unless \`setSpendControls\` allows it.`
    : `${byKey}. Nobody pays for an answer that is not 200.`;
}

function line(one: DocumentedOperation & { readonly reference: string }): string {
  const price = one.priceUnits === null ? "" : ` (${priceText(one.priceUnits)} USD)`;
  return `- [${one.method} ${one.path}](${one.reference}#${one.operation.operationId ?? ""})${price}: ${one.operation.summary ?? ""}`;
}
