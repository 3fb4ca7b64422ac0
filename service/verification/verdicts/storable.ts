/**
 * The same value with what PostgreSQL stores in no text or JSON replaced by U+FFFD in every string: U+0000, and halves of surrogate
 * pairs without their other half. Models repeat such characters where an output has them.
 */
export function storable<Value>(value: Value): Value {
  // Strings become strings, and everything else keeps its shape.
  return cleaned(value) as Value;
}

function cleaned(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed().replaceAll("\u0000", "\uFFFD");
  if (Array.isArray(value)) return value.map(cleaned);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [cleaned(key), cleaned(member)]));
}
