import type { ApiDocument } from "./openapi-document.ts";

type PathItem = NonNullable<ApiDocument["paths"]>[string];

export type Operation = NonNullable<PathItem["get"]>;

/** One operation of the document, with the price that it states. */
export type DocumentedOperation = {
  /** Upper-case. */
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
  /** The least price in thousandths of a US dollar; null where it is free. */
  readonly priceUnits: number | null;
};

/** The operations of a document, in its order. */
export function operationsOf(document: ApiDocument): readonly DocumentedOperation[] {
  return Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    (["get", "post", "put", "delete"] as const).flatMap((method) => {
      const operation = item[method];
      if (operation === undefined) return [];
      const price = memberOf(operation, "x-price-usd");
      const priceUnits = typeof price === "number" ? Math.round(price * 1000) : null;
      return [{ method: method.toUpperCase(), path, operation, priceUnits }];
    }),
  );
}

/** What subscribers are sent, by the type of its event. */
export type DocumentedWebhook = { readonly name: string; readonly operation: Operation };

/** The webhooks of a document, in its order. */
export function webhooksOf(document: ApiDocument): readonly DocumentedWebhook[] {
  return Object.entries(document.webhooks ?? {}).flatMap(([name, item]) => {
    const operation = "post" in item ? item.post : undefined;
    return operation === undefined ? [] : [{ name, operation }];
  });
}

/** A member of a value that may be no object. */
export function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

/** A schema, or the component that it refers to. */
export function resolveSchema(schema: unknown, document: ApiDocument): unknown {
  const reference = memberOf(schema, "$ref");
  if (typeof reference !== "string") return schema;
  return document.components?.schemas?.[reference.replace("#/components/schemas/", "")];
}

/** A schema with every reference in it replaced by what it refers to; ours never refer to themselves. */
export function inlineSchema(schema: unknown, document: ApiDocument): unknown {
  const resolved = resolveSchema(schema, document);
  if (Array.isArray(resolved)) return resolved.map((item) => inlineSchema(item, document));
  if (typeof resolved !== "object" || resolved === null) return resolved;
  return Object.fromEntries(
    Object.entries(resolved).map(([name, member]) => [name, inlineSchema(member, document)]),
  );
}

/** A price in thousandths of a US dollar as tables show it: two decimals, and the third where it says something. */
export function priceText(units: number): string {
  return (units / 1000).toFixed(3).replace(/0$/, "");
}
