import fc, { type Arbitrary } from "fast-check";
import { memberOf } from "../../../service/api/kit/openapi-document.ts";
import { HOSTILE_JSON } from "./hostile-values.ts";

export type Drawing = {
  /** Texts that some parameter is likely to mean, by the pattern that they fit. */
  readonly known: readonly string[];
  /** How many of ten parts are hostile: 0 for values that fit the schema. */
  readonly wildness: number;
};

/** Values of a JSON Schema whose references are replaced, fitting but for hostile parts anywhere within. */
export function valueFrom(schema: unknown, drawing: Drawing): Arbitrary<unknown> {
  const { wildness } = drawing;
  return fc.oneof(
    { weight: 10 - wildness, arbitrary: fitting(schema, drawing) },
    { weight: wildness, arbitrary: hostile },
  );
}

const hostile = fc.constantFrom(...HOSTILE_JSON);

function fitting(schema: unknown, drawing: Drawing): Arbitrary<unknown> {
  const choices = listOf(memberOf(schema, "anyOf")) ?? listOf(memberOf(schema, "oneOf"));
  if (choices !== null) return fc.oneof(...choices.map((choice) => fitting(choice, drawing)));
  const parts = listOf(memberOf(schema, "allOf"));
  if (parts !== null && parts.length === 1) return fitting(parts[0], drawing);
  const options = listOf(memberOf(schema, "enum"));
  if (options !== null) return fc.constantFrom(...options);
  const constant = memberOf(schema, "const");
  if (constant !== undefined) return fc.constant(constant);
  const type = memberOf(schema, "type");
  if (Array.isArray(type)) return fc.oneof(...type.map((one) => ofType(one, schema, drawing)));
  return ofType(type, schema, drawing);
}

function ofType(type: unknown, schema: unknown, drawing: Drawing): Arbitrary<unknown> {
  switch (type) {
    case "string":
      return textOf(schema, drawing);
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
      return fc.array(valueFrom(memberOf(schema, "items"), drawing), {
        minLength: numberOf(schema, "minItems") ?? 0,
        maxLength: Math.min(numberOf(schema, "maxItems") ?? 6, 12),
      });
    case "object":
      return objectOf(schema, drawing);
    default:
      return hostile;
  }
}

function textOf(schema: unknown, drawing: Drawing): Arbitrary<unknown> {
  const pattern = memberOf(schema, "pattern");
  const example = memberOf(schema, "example");
  const examples = typeof example === "string" ? [example] : [];
  if (typeof pattern === "string") {
    const expression = new RegExp(pattern);
    const fits = [...drawing.known, ...examples].filter((text) => expression.test(text));
    const random = fc.stringMatching(expression);
    return fits.length === 0 ? random : fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...fits) }, random);
  }
  if (memberOf(schema, "format") === "uuid") return fc.uuid();
  if (memberOf(schema, "format") === "date-time") return fc.date().map((date) => date.toISOString());
  const free = fc.string({ minLength: numberOf(schema, "minLength") ?? 0, maxLength: 40 });
  return fc.oneof(free, fc.constantFrom(...drawing.known, ...examples, "https://agent.invalid/hook"));
}

function objectOf(schema: unknown, drawing: Drawing): Arbitrary<unknown> {
  const properties = memberOf(schema, "properties");
  const required = listOf(memberOf(schema, "required")) ?? [];
  if (typeof properties !== "object" || properties === null) {
    const values = memberOf(schema, "additionalProperties");
    return fc.dictionary(fc.constantFrom("A", "B", "C", "x"), valueFrom(values, drawing), { maxKeys: 3 });
  }
  const members = Object.entries(properties).map(
    ([name, member]) => [name, valueFrom(member, drawing)] as const,
  );
  const model = Object.fromEntries(members);
  // A wild one may lack what is required.
  return fc.oneof(
    { weight: 10 - drawing.wildness, arbitrary: fc.record(model, { requiredKeys: required as never[] }) },
    { weight: drawing.wildness, arbitrary: fc.record(model, { requiredKeys: [] }) },
  );
}

function listOf(value: unknown): readonly unknown[] | null {
  return Array.isArray(value) && value.length > 0 ? value : null;
}

function numberOf(schema: unknown, name: string): number | null {
  const value = memberOf(schema, name);
  return typeof value === "number" ? value : null;
}
