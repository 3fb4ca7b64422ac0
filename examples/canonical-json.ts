type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

/** A JSON value in the form of RFC 8785: members sorted by UTF-16 units, nothing between them; throws on what is no JSON. */
export function canonicalJson(value: Json): string {
  if (typeof value === "string" && !value.isWellFormed()) throw new Error("a text has half a surrogate pair");
  if (typeof value === "number" && !Number.isFinite(value)) throw new Error(`${value} is no JSON number`);
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (isList(value)) return `[${value.map(canonicalJson).join(",")}]`;
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`).join(",")}}`;
}

/** Array.isArray does not narrow a readonly array. */
function isList(value: readonly Json[] | { readonly [name: string]: Json }): value is readonly Json[] {
  return Array.isArray(value);
}
