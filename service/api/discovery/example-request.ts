import type { Address } from "viem";
import { toEip55 } from "../address-schema.ts";
import { type DocumentedOperation, inlineSchema, memberOf } from "../document-operations.ts";
import type { ApiDocument } from "../openapi-document.ts";

/** A request that a client could send as it is. */
export type ExampleRequest = {
  readonly url: string;
  /** Null where the operation takes none. */
  readonly body: unknown;
};

export type ExampleSource = {
  readonly document: ApiDocument;
  /** Origin of the service, without a slash at its end. */
  readonly origin: string;
  /** A wallet that the index follows. */
  readonly wallet: Address;
};

/** The request that an operation answers for a wallet with, its required parameters filled in. */
export function exampleRequest(
  { path, operation }: DocumentedOperation,
  { document, origin, wallet }: ExampleSource,
): ExampleRequest {
  const query = (operation.parameters ?? []).flatMap((parameter) => {
    if ("$ref" in parameter || parameter.in !== "query" || parameter.required !== true) return [];
    return [[parameter.name, exampleOf(parameter, origin)] as const];
  });
  const search = query.length === 0 ? "" : `?${new URLSearchParams(Object.fromEntries(query))}`;
  return {
    url: `${origin}${path.replace("{address}", toEip55(wallet))}${search}`,
    body: exampleBody(operation.requestBody, { document, origin, wallet }),
  };
}

// A URL that a client is to name is one of ours: it exists wherever the service does.
function exampleOf(parameter: object, origin: string): string {
  const schema = memberOf(parameter, "schema");
  const example = memberOf(parameter, "example") ?? memberOf(schema, "example");
  return memberOf(schema, "format") === "uri" ? `${origin}/livez` : String(example);
}

/** The required members of a body: addresses are those of the wallet, amounts the least, which is what the price is of. */
function exampleBody(requestBody: unknown, { document, wallet }: ExampleSource): unknown {
  const content = memberOf(memberOf(requestBody, "content"), "application/json");
  if (content === undefined) return null;
  const schema = inlineSchema(memberOf(content, "schema"), document);
  const required = memberOf(schema, "required");
  const members = (Array.isArray(required) ? required.map(String) : []).map((name) => {
    const property = memberOf(memberOf(schema, "properties"), name);
    const value = memberOf(property, "minimum") ?? memberOf(property, "example");
    return [name, name === "addresses" ? [toEip55(wallet)] : value] as const;
  });
  return Object.fromEntries(members);
}
