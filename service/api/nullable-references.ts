/**
 * A description with every nullable reference written as JSON Schema means it: the generator says `allOf` of the component and of
 * {type: [object, null]}, which null never fits.
 */
export function withNullableReferences<Description>(description: Description): Description {
  // The walk changes schemas alone, and those for equal ones.
  return rewritten(description) as Description;
}

function rewritten(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(rewritten);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [name, rewritten(member)] as const);
  const schema = Object.fromEntries(members);
  const { allOf, ...rest } = schema;
  if (!Array.isArray(allOf) || allOf.length !== 2) return schema;
  const [reference, { type, ...notes }] = allOf;
  if (reference.$ref === undefined || !Array.isArray(type) || !type.includes("null")) return schema;
  return { anyOf: [reference, { type: "null" }], ...notes, ...rest };
}
