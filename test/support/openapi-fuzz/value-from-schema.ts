import fc, { type Arbitrary } from "fast-check";
import { memberOf } from "../../../service/api/document-operations.ts";
import { HOSTILE_JSON } from "./hostile-values.ts";

/** Texts that some parameter is likely to mean, by the pattern that they fit. */
export type Known = readonly string[];

/** Values of a JSON Schema whose references are replaced, most of them fitting, some hostile somewhere within. */
export function valueFrom(schema: unknown, known: Known): Arbitrary<unknown> {
  return fc.oneof({ weight: 9, arbitrary: fitting(schema, known) }, { weight: 1, arbitrary: hostile });
}

const hostile = fc.constantFrom(...HOSTILE_JSON);

function fitting(schema: unknown, known: Known): Arbitrary<unknown> {
  const choices = listOf(memberOf(schema, "anyOf")) ?? listOf(memberOf(schema, "oneOf"));
  if (choices !== null) return fc.oneof(...choices.map((choice) => fitting(choice, known)));
  const parts = listOf(memberOf(schema, "allOf"));
  if (parts !== null && parts.length === 1) return fitting(parts[0], known);
  const options = listOf(memberOf(schema, "enum"));
  if (options !== null) return fc.constantFrom(...options);
  const constant = memberOf(schema, "const");
  if (constant !== undefined) return fc.constant(constant);
  const type = memberOf(schema, "type");
  if (Array.isArray(type)) return fc.oneof(...type.map((one) => ofType(one, schema, known)));
  return ofType(type, schema, known);
}

function ofType(type: unknown, schema: unknown, known: Known): Arbitrary<unknown> {
  switch (type) {
    case "string":
      return textOf(schema, known);
    case "integer":
      return fc.integer({
        min: Math.max(numberOf(schema, "minimum") ?? -1_000, -1_000),
        max: Math.min(numberOf(schema, "maximum") ?? 100_000, 100_000),
      });
    case "number":
      return fc.double({
        min: numberOf(schema, "minimum") ?? -1_000,
        max: numberOf(schema, "maximum") ?? 1_000_000,
        noNaN: true,
      });
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    case "array":
      return fc.array(valueFrom(memberOf(schema, "items"), known), {
        minLength: numberOf(schema, "minItems") ?? 0,
        maxLength: Math.min(numberOf(schema, "maxItems") ?? 6, 12),
      });
    case "object":
      return objectOf(schema, known);
    default:
      return hostile;
  }
}

function textOf(schema: unknown, known: Known): Arbitrary<unknown> {
  const pattern = memberOf(schema, "pattern");
  const example = memberOf(schema, "example");
  const examples = typeof example === "string" ? [example] : [];
  if (typeof pattern === "string") {
    const expression = new RegExp(pattern);
    const fits = [...known, ...examples].filter((text) => expression.test(text));
    const random = fc.stringMatching(expression);
    return fits.length === 0 ? random : fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...fits) }, random);
  }
  if (memberOf(schema, "format") === "uuid") return fc.uuid();
  if (memberOf(schema, "format") === "date-time") return fc.date().map((date) => date.toISOString());
  const free = fc.string({ minLength: numberOf(schema, "minLength") ?? 0, maxLength: 40 });
  return fc.oneof(free, fc.constantFrom(...known, ...examples, "https://agent.invalid/hook"));
}

function objectOf(schema: unknown, known: Known): Arbitrary<unknown> {
  const properties = memberOf(schema, "properties");
  const required = listOf(memberOf(schema, "required")) ?? [];
  if (typeof properties !== "object" || properties === null) {
    const values = memberOf(schema, "additionalProperties");
    return fc.dictionary(fc.constantFrom("A", "B", "C", "x"), valueFrom(values, known), { maxKeys: 3 });
  }
  const members = Object.entries(properties).map(
    ([name, member]) => [name, valueFrom(member, known)] as const,
  );
  // Now and then without one that is required, too.
  return fc.oneof(
    { weight: 8, arbitrary: fc.record(Object.fromEntries(members), { requiredKeys: required as never[] }) },
    { weight: 2, arbitrary: fc.record(Object.fromEntries(members), { requiredKeys: [] }) },
  );
}

function listOf(value: unknown): readonly unknown[] | null {
  return Array.isArray(value) && value.length > 0 ? value : null;
}

function numberOf(schema: unknown, name: string): number | null {
  const value = memberOf(schema, name);
  return typeof value === "number" ? value : null;
}
