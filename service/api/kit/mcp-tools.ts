import type { ToolAnnotations } from "@modelcontextprotocol/server";
import { priceText } from "../../access/access.ts";
import {
  type ApiDocument,
  type DocumentedOperation,
  inlineSchema,
  memberOf,
  operationsOf,
  type ServedDocument,
} from "./openapi-document.ts";

type ObjectSchema = {
  readonly type: "object";
  readonly properties: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
};

/** An operation of the interface as a tool; `place` says which arguments go where in the request. */
export type Tool = {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly annotations: ToolAnnotations;
  readonly input: ObjectSchema;
  /** The first members of the result; null if the result is not always an object. */
  readonly output: ObjectSchema | null;
  readonly method: string;
  readonly path: string;
  readonly priceUnits: number | null;
  readonly place: { readonly path: readonly string[]; readonly query: readonly string[] };
};

/** The operations of an interface that have a description as a tool. */
export function toolsOf({
  document,
  endpoints,
}: Pick<ServedDocument, "document" | "endpoints">): readonly Tool[] {
  const descriptions = new Map(endpoints.map(({ operation, tool }) => [operation.operationId, tool]));
  const tools = operationsOf(document).flatMap((documented) => {
    const description = descriptions.get(documented.operation.operationId) ?? null;
    return description === null ? [] : [toolOf(description, documented, document)];
  });
  return [...tools, ...tools.filter(({ name }) => name === "score_wallet").map(explainTool)];
}

/** A second tool for the score, which requests its explaining parts. */
function explainTool(score: Tool): Tool {
  return {
    ...score,
    name: "explain_score",
    title: "Agent Health Score, line by line",
    description: `Explains the Agent Health Score of a wallet: every feature with its value, weight and contribution, and the score's history. Use it instead of score_wallet if you need the reasons; it includes the score. ${costOf(score.priceUnits)}`,
    path: `${score.path}?include=features,history`,
    input: { ...score.input, properties: { address: score.input.properties.address } },
    place: { path: score.place.path, query: [] },
  };
}

function toolOf(
  description: string,
  { method, path, operation, priceUnits }: DocumentedOperation,
  document: ApiDocument,
): Tool {
  const parameters = (operation.parameters ?? []).flatMap((one) => ("$ref" in one ? [] : [one]));
  const named = (place: string) => parameters.filter((parameter) => parameter.in === place);
  const fromParameters = [...named("path"), ...named("query")].map((parameter) => {
    const schema = inlineSchema(parameter.schema, document);
    const described = { ...(typeof schema === "object" ? schema : {}), description: parameter.description };
    return [parameter.name, shortened(described, 1)] as const;
  });
  const content = memberOf(memberOf(operation.requestBody, "content"), "application/json");
  const body = inlineSchema(memberOf(content, "schema"), document);
  return {
    name: operation.operationId ?? path,
    title: operation.summary ?? path,
    description: `${description} ${costOf(priceUnits)}`,
    annotations: annotationsOf(method, priceUnits, [
      ...named("query").map(({ name }) => name),
      ...Object.keys(propertiesOf(body)),
    ]),
    input: {
      type: "object",
      properties: {
        ...Object.fromEntries(fromParameters),
        ...mapped(propertiesOf(body), (member) => shortened(member, 1)),
      },
      required: [
        ...parameters
          .filter((one) => one.required === true && one.in !== "header")
          .map((parameter) => parameter.name),
        ...requiredOf(body),
      ],
    },
    output: outputOf(operation, document),
    method,
    path,
    priceUnits,
    place: { path: named("path").map((one) => one.name), query: named("query").map((one) => one.name) },
  };
}

function costOf(units: number | null): string {
  return units === null ? "Free." : `Costs ${priceText(units)} USD.`;
}

/** A priced call spends money, so only free reads are read-only. Calls with a webhook send to a host of the caller's choice. */
function annotationsOf(method: string, units: number | null, names: readonly string[]): ToolAnnotations {
  const readsOnly = method === "GET" && units === null;
  const replaces = method === "PUT" || method === "DELETE";
  return {
    readOnlyHint: readsOnly,
    destructiveHint: replaces,
    idempotentHint: readsOnly || replaces,
    openWorldHint: names.includes("webhook_url"),
  };
}

/** Members of a result that the list of tools names. */
const MOST_MEMBERS = 12;
/** Values of a member that the list of tools names. */
const MOST_VALUES = 6;

/** The shape of the 200: the types of its first members. All tools together must stay a small list. */
function outputOf(operation: DocumentedOperation["operation"], document: ApiDocument): ObjectSchema | null {
  const successes = Object.entries(operation.responses ?? {}).filter(([status]) => status.startsWith("2"));
  const [success, ...others] = successes.map(([, response]) => memberOf(response, "content"));
  if (others.length > 0 || Object.keys(success ?? {}).join() !== "application/json") return null;
  const schema = inlineSchema(memberOf(memberOf(success, "application/json"), "schema"), document);
  if (memberOf(schema, "type") !== "object") return null;
  const members = Object.entries(propertiesOf(schema)).slice(0, MOST_MEMBERS);
  return {
    type: "object",
    properties: Object.fromEntries(members.map(([name, member]) => [name, outlineOf(member)])),
  };
}

/** The types of a schema, and its values if they are few. */
function outlineOf(schema: unknown): object {
  const values = memberOf(schema, "enum");
  if (Array.isArray(values) && values.length <= MOST_VALUES) return { enum: values };
  const type = memberOf(schema, "type");
  return type === undefined ? {} : { type };
}

function propertiesOf(schema: unknown): Readonly<Record<string, unknown>> {
  const properties = memberOf(schema, "properties");
  return typeof properties === "object" && properties !== null ? { ...properties } : {};
}

function requiredOf(schema: unknown): readonly string[] {
  const required = memberOf(schema, "required");
  return Array.isArray(required) ? required.map(String) : [];
}

/** Nesting of objects whose members an input shows; the example of a deeper one stands for its members. */
const MOST_DEPTH = 1;

/** An input schema without examples, which would double the list, and without null defaults. */
function shortened(schema: unknown, depth = 0): unknown {
  if (Array.isArray(schema)) return schema.map((part) => shortened(part, depth));
  if (typeof schema !== "object" || schema === null) return schema;
  const isDeep = depth >= MOST_DEPTH && Object.keys(propertiesOf(schema)).length > 0;
  return Object.fromEntries(
    Object.entries(schema).flatMap(([name, member]) => {
      if (name === "properties")
        return isDeep ? [] : [[name, mapped(member, (one) => shortened(one, depth + 1))]];
      if (member === undefined || (name === "default" && member === null)) return [];
      return name === "example" && !isDeep
        ? []
        : [[name, name === "example" ? member : shortened(member, depth)]];
    }),
  );
}

function mapped(object: unknown, change: (member: unknown) => unknown): object {
  return Object.fromEntries(Object.entries(object ?? {}).map(([name, member]) => [name, change(member)]));
}
