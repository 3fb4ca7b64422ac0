import type { Listing } from "../../access/access.ts";
import { SERVICE_NAME } from "./discovery.ts";
import {
  type ApiDocument,
  type DocumentedOperation,
  inlineSchema,
  memberOf,
  operationsOf,
  type ServedDocument,
} from "./openapi-document.ts";

/** Bytes of JSON of one declaration. The 402 repeats it in a header, and clients send it back in one of theirs. */
const MOST_BYTES = 2_000;
/** Characters of a description, which ends with a sentence or word. */
const MOST_CHARACTERS = 100;
/** Keywords of a schema that a caller needs. Facilitators do not know formats, and refuse references. */
const KEYWORDS = new Set([
  ...["type", "enum", "const", "pattern", "items", "required", "anyOf", "oneOf"],
  ...["minimum", "maximum", "exclusiveMinimum", "minLength", "maxLength", "minItems", "maxItems"],
]);

/** Listings of priced operations by method and path template ("GET /ahs/{address}"), for x402's extension `bazaar`. */
export function catalogOf(served: readonly ServedDocument[]): ReadonlyMap<string, Listing> {
  return new Map(
    served.flatMap(({ document }) =>
      operationsOf(document).flatMap((documented) => {
        const { method, path, operation, priceUnits } = documented;
        if (priceUnits === null) return [];
        const listing = { serviceName: SERVICE_NAME, tags: operation.tags ?? [] };
        return [[`${method} ${path}`, { ...listing, bazaar: declarationOf(documented, document) }] as const];
      }),
    ),
  );
}

/** The declaration of an operation: its schema with descriptions if they fit, then the first members of its example. */
function declarationOf(documented: DocumentedOperation, document: ApiDocument): Listing["bazaar"] {
  const { responses } = documented.operation;
  const example = memberOf(jsonOf(responses?.["200"]), "example");
  const declared = [true, false].map((isDescribed) => declare(documented, document, isDescribed));
  const fitting = declared.find((one) => bytesOf(one) <= MOST_BYTES);
  if (fitting === undefined) throw new Error(`${documented.path}: its input has no room in a 402`);
  const output = { type: "json", example: {} };
  const room = MOST_BYTES - bytesOf({ ...fitting, info: { ...fitting.info, output } });
  return {
    ...fitting,
    info: { ...fitting.info, output: { ...output, example: firstMembers(example, room) } },
  };
}

function declare(
  { method, path, operation }: DocumentedOperation,
  document: ApiDocument,
  isDescribed: boolean,
): Listing["bazaar"] {
  const compact = (schema: unknown) => compacted(inlineSchema(schema, document), isDescribed);
  const parameters = (operation.parameters ?? []).flatMap((one) => ("$ref" in one ? [] : [one]));
  const within = (place: string) => {
    const named = parameters.filter((one) => one.in === place);
    const required = named.filter((one) => one.required === true);
    return {
      schema: {
        type: "object",
        properties: Object.fromEntries(named.map(({ name, schema }) => [name, compact(schema)])),
        required: required.map(({ name }) => name),
      },
      examples: Object.fromEntries(required.map((one) => [one.name, exampleOf(one)])),
    };
  };
  const [pathParams, queryParams] = [within("path"), within("query")];
  const content = jsonOf(operation.requestBody);
  const hasBody = method !== "GET" && method !== "DELETE";
  const bodySchema = content === undefined ? { type: "object" } : compact(memberOf(content, "schema"));
  return {
    routeTemplate: path.replaceAll(/\{(.+?)\}/g, ":$1"),
    info: {
      input: {
        type: "http",
        method,
        pathParams: pathParams.examples,
        queryParams: queryParams.examples,
        ...(hasBody ? { bodyType: "json", body: memberOf(content, "example") ?? {} } : {}),
      },
    },
    schema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: {
        input: {
          type: "object",
          properties: {
            type: { const: "http" },
            method: { enum: [method] },
            pathParams: pathParams.schema,
            queryParams: queryParams.schema,
            ...(hasBody ? { bodyType: { enum: ["json"] }, body: bodySchema } : {}),
          },
          required: ["type", "method", ...(hasBody ? ["bodyType", "body"] : [])],
          additionalProperties: false,
        },
        output: { type: "object" },
      },
      required: ["input"],
    },
  };
}

function jsonOf(described: unknown): unknown {
  return memberOf(memberOf(described, "content"), "application/json");
}

function exampleOf(parameter: object): unknown {
  return memberOf(parameter, "example") ?? memberOf(memberOf(parameter, "schema"), "example");
}

/** A schema with the keywords that a caller needs. */
function compacted(schema: unknown, isDescribed: boolean): unknown {
  if (Array.isArray(schema)) return schema.map((part) => compacted(part, isDescribed));
  if (typeof schema !== "object" || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema).flatMap(([name, member]) => {
      if (name === "properties") {
        const properties = Object.entries(member ?? {});
        return [
          [name, Object.fromEntries(properties.map(([key, one]) => [key, compacted(one, isDescribed)]))],
        ];
      }
      if (name === "description") return isDescribed ? [[name, shortened(String(member))]] : [];
      return KEYWORDS.has(name) ? [[name, compacted(member, isDescribed)]] : [];
    }),
  );
}

function shortened(text: string): string {
  const [sentence = text] = text.split(/(?<=\.) |[.:](?= )/, 1);
  if (sentence.length <= MOST_CHARACTERS) return sentence;
  return `${sentence.slice(0, MOST_CHARACTERS).replace(/\s+\S*$/, "")} …`;
}

/** The first members of an example that fit: each as a whole, or a list with the first members of its first object. */
function firstMembers(example: unknown, room: number): object {
  let left = room;
  const members: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(Object(example))) {
    const [first] = Array.isArray(member) ? member : [];
    const emptied = left - bytesOf({ [name]: [{}] });
    const isCut = bytesOf({ [name]: member }) > left && typeof first === "object" && emptied > 0;
    const shown = isCut ? [firstMembers(first, emptied)] : member;
    if (bytesOf({ [name]: shown }) > left) continue;
    members[name] = shown;
    left -= bytesOf({ [name]: shown });
  }
  return members;
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
