import {
  type DocumentedOperation,
  inlineSchema,
  memberOf,
  operationsOf,
  priceText,
} from "../document-operations.ts";
import type { ApiDocument } from "../openapi-document.ts";

/** JSON Schema of what a tool takes. */
type InputSchema = {
  readonly type: "object";
  readonly properties: Readonly<Record<string, unknown>>;
  readonly required: readonly string[];
};

/** An operation of the interface as a tool; `place` says which arguments go where in the request. */
export type Tool = {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: InputSchema;
  readonly method: string;
  readonly path: string;
  readonly priceUnits: number | null;
  readonly place: { readonly path: readonly string[]; readonly query: readonly string[] };
};

/** Operations that are tools, by the names that agents know them under; the rest is for operators and crawlers. */
const TOOL_NAMES: Readonly<Record<string, string>> = {
  "GET /ahs/{address}": "score_wallet",
  "GET /ahs/route/{address}": "route_payment",
  "POST /ahs/batch": "score_wallets",
  "GET /ahs/route/policy": "get_routing_policy",
  "PUT /ahs/route/policy": "set_routing_policy",
  "GET /risk/{address}": "check_risk",
  "GET /risk/premium/{address}": "check_premium_risk",
  "GET /counterparties/{address}": "list_counterparties",
  "GET /network-map/{address}": "map_network",
  "GET /health/{address}": "diagnose_wallet",
  "POST /wash/{address}": "scan_financial_health",
  "GET /optimize/{address}": "optimize_gas",
  "GET /retry/{address}": "plan_retries",
  "GET /agent/protect/{address}": "protect_wallet",
  "GET /report-card/{address}": "draw_report_card",
  "GET /alerts/subscribe/{address}": "subscribe_alerts",
  "GET /keys/self": "get_balance",
  "POST /v1/specs": "register_spec",
  "POST /v1/outputs": "verify_output",
  "GET /v1/verdicts/{verdict_id}": "get_verdict",
  "POST /v1/verdicts/{verdict_id}/evidence": "offer_evidence",
  "GET /v1/verdicts/{verdict_id}/evidence": "get_evidence",
  "GET /v1/verdicts/{verdict_id}/receipt": "get_receipt",
};

/** Every tool that a document's operations make. */
export function toolList(document: ApiDocument): readonly Tool[] {
  const tools = operationsOf(document).flatMap((documented) => {
    const name = TOOL_NAMES[`${documented.method} ${documented.path}`];
    return name === undefined ? [] : [toolOf(name, documented, document)];
  });
  return [...tools, ...tools.filter(({ name }) => name === "score_wallet").map(explainTool)];
}

/** The score with everything that explains it: the same operation with its parts asked for. */
function explainTool(score: Tool): Tool {
  return {
    ...score,
    name: "explain_score",
    title: "Agent Health Score, line by line",
    description: `The score with every feature, its value, weight and contribution, and its history. ${priceSentence(score.priceUnits)} ${score.description}`,
    path: `${score.path}?include=features,history`,
    input: { ...score.input, properties: { address: score.input.properties.address } },
    place: { path: score.place.path, query: [] },
  };
}

function toolOf(
  name: string,
  { method, path, operation, priceUnits }: DocumentedOperation,
  document: ApiDocument,
): Tool {
  const parameters = (operation.parameters ?? []).flatMap((one) => ("$ref" in one ? [] : [one]));
  const named = (place: string) => parameters.filter((parameter) => parameter.in === place);
  const fromParameters = [...named("path"), ...named("query")].map((parameter) => {
    const schema = inlineSchema(parameter.schema, document);
    const described = { ...(typeof schema === "object" ? schema : {}), description: parameter.description };
    return [parameter.name, described] as const;
  });
  const content = memberOf(memberOf(operation.requestBody, "content"), "application/json");
  const body = inlineSchema(memberOf(content, "schema"), document);
  const bodyRequired: unknown = memberOf(body, "required");
  return {
    name,
    title: operation.summary ?? name,
    description: `${operation.summary ?? name}. ${priceSentence(priceUnits)} ${operation.description ?? ""}`,
    input: {
      type: "object",
      properties: { ...Object.fromEntries(fromParameters), ...propertiesOf(body) },
      required: [
        ...parameters
          .filter((one) => one.required === true && one.in !== "header")
          .map((parameter) => parameter.name),
        ...(Array.isArray(bodyRequired) ? bodyRequired.map(String) : []),
      ],
    },
    method,
    path,
    priceUnits,
    place: { path: named("path").map((one) => one.name), query: named("query").map((one) => one.name) },
  };
}

function propertiesOf(schema: unknown): Readonly<Record<string, unknown>> {
  const properties = memberOf(schema, "properties");
  return typeof properties === "object" && properties !== null ? { ...properties } : {};
}

function priceSentence(units: number | null): string {
  return units === null ? "Free." : `Costs ${priceText(units)} USD.`;
}
