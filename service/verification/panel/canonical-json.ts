import canonicalize from "canonicalize";

/** JSON in the one form that RFC 8785 has for it; half of a surrogate pair without its other half becomes U+FFFD. */
export function canonicalJson(value: object): string {
  const body = canonicalize(wellFormed(value));
  if (body === undefined) throw new Error("An object that is no JSON cannot be canonicalised");
  return body;
}

function wellFormed(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, wellFormed(member)]));
}
