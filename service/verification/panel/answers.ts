import { z } from "zod";
import type { AnswerShape } from "./model-port.ts";
import { MAX_CRITERIA } from "./policy.ts";
import { GENERATOR_ROLES, type RoleFinding } from "./types.ts";

/** Limits of an answer, as its prompts state them: characters of texts, entries of lists. */
export const ANSWER_LIMITS = {
  /** A quotation. */
  quote: 400,
  /** A sentence or two. */
  point: 800,
  /** About a page. */
  reason: 4_000,
  points: 20,
} as const;

/** Cuts a text to the limit in UTF-16 units and adds an ellipsis. */
export function cutText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const cut = text.slice(0, limit - 1);
  // A pair that was cut in two leaves its first half.
  return `${cut.isWellFormed() ? cut : cut.slice(0, -1)}…`;
}

export function cutList<Entry>(entries: readonly Entry[]): Entry[] {
  return entries.slice(0, ANSWER_LIMITS.points);
}

/** Keeps the first challenges of every role, in their order, so that many against one role do not hide those against others. */
export function cutChallenges<Challenge extends { readonly role: string }>(
  challenges: readonly Challenge[],
): Challenge[] {
  const counts = new Map<string, number>();
  const ranked = challenges.map((challenge, index) => {
    const rank = counts.get(challenge.role) ?? 0;
    counts.set(challenge.role, rank + 1);
    return { challenge, index, rank };
  });
  return ranked
    .sort((one, other) => one.rank - other.rank || one.index - other.index)
    .slice(0, ANSWER_LIMITS.points)
    .sort((one, other) => one.index - other.index)
    .map(({ challenge }) => challenge);
}

const { quote: QUOTE, point: POINT, reason: REASON } = ANSWER_LIMITS;

/** Text that PostgreSQL can store. A text over the limit is cut at its end, so an answer is not lost for its length. */
const words = (limit: number) =>
  z
    .string()
    .refine((text) => text.isWellFormed() && !text.includes("\0"))
    .overwrite((text) => cutText(text, limit));
const point = words(POINT).refine((text) => text.trim() !== "");
const points = z.array(point).overwrite(cutList);
/** Never cut: a longer value is not an id. */
const criterionId = z.string().max(8);
const confidence = z.number().min(0).max(1);

const ballotWire = z.strictObject({
  score: z.int().min(0).max(100).describe("Whole number on the scale of your instructions"),
  confidence: confidence.describe("Your chance to be right, as a fraction of one"),
  criteria: z
    .array(
      z.strictObject({
        id: criterionId.describe("Id of a criterion; each is answered once"),
        met: z.enum(["yes", "no", "unclear"]),
        evidence: words(QUOTE).describe("A short quotation, or what is missing"),
      }),
    )
    .max(MAX_CRITERIA),
  objections: points,
  uncheckable_claims: points.describe("Quotations from the output"),
  instructions_found: points.describe("Quotations from any block"),
  reasoning: words(REASON),
});

const critiqueWire = z.strictObject({
  challenges: z
    .array(
      z.strictObject({
        role: z.enum(GENERATOR_ROLES),
        quote: words(QUOTE).describe("Words of that ballot or of the output, copied exactly"),
        reason: point,
      }),
    )
    .overwrite(cutChallenges),
  missed_issues: z.array(z.strictObject({ issue: point, quote: words(QUOTE) })).overwrite(cutList),
  fabrication_risk: z.enum(["none", "low", "medium", "high"]),
  fabrication_reason: words(POINT),
  spec_gaming: z.boolean(),
  spec_gaming_reason: words(POINT),
  case_for: words(REASON),
  case_against: words(REASON),
  confidence: confidence.describe("Your chance to be right, as a fraction of one"),
});

const synthesisWire = z.strictObject({
  met_criteria: z.array(criterionId).max(MAX_CRITERIA).describe("Ids of criteria"),
  unmet_criteria: z
    .array(
      z.strictObject({
        id: criterionId.describe("Id of a criterion"),
        evidence: words(QUOTE).describe("A short quotation, or what is missing"),
      }),
    )
    .max(MAX_CRITERIA),
  key_objections: points,
  reasoning: words(REASON),
  strongest_dissent: words(REASON),
});

/** Some servers refuse these keywords in strict schemas. */
const NOT_EVERYWHERE = new Set([
  "$schema",
  "minimum",
  "maximum",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
]);

/** Schemas of the three kinds of answers, for servers with structured outputs. */
export const ANSWER_SHAPES = {
  ballot: shapeOf("ballot", ballotWire),
  critique: shapeOf("critique", critiqueWire),
  synthesis: shapeOf("synthesis", synthesisWire),
} as const satisfies Record<AnswerShape["name"], AnswerShape>;

function shapeOf(name: AnswerShape["name"], schema: z.ZodType): AnswerShape {
  return { name, jsonSchema: plain(z.toJSONSchema(schema)) as Record<string, unknown> };
}

function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).filter(([key]) => !NOT_EVERYWHERE.has(key));
  return Object.fromEntries(members.map(([key, member]) => [key, plain(member)]));
}

/** An answer that fits the schema: as received after cutting, and as the panel reads it. `off`: its faults, in our words. */
export type ParsedAnswer<Answer> =
  | { readonly kind: "answer"; readonly wire: unknown; readonly answer: Answer }
  | { readonly kind: "off"; readonly faults: readonly string[] };

type Camel<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Name;

type AsRead<Wire> = {
  readonly [Key in keyof Wire & string as Camel<Key>]: Wire[Key] extends (infer Entry)[]
    ? readonly Entry[]
    : Wire[Key];
};

function asRead<Wire extends object>(wire: Wire): AsRead<Wire> {
  const camel = (name: string) => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  // The type says the same of each member.
  return Object.fromEntries(
    Object.entries(wire).map(([name, value]) => [camel(name), value]),
  ) as AsRead<Wire>;
}

/** A generator's answer. A criterion's `met` is null if it is unclear. */
export type Ballot = Omit<AsRead<z.infer<typeof ballotWire>>, "criteria"> & Pick<RoleFinding, "criteria">;

/** The critic's answer. A challenge without a quotation of the ballot or the output does not count. */
export type Critique = AsRead<z.infer<typeof critiqueWire>>;

/** The synthesiser's answer, with ids of criteria. */
export type Synthesis = AsRead<z.infer<typeof synthesisWire>>;

function parseWire<Wire>(
  schema: z.ZodType<Wire>,
  value: unknown,
  faultsOf: (wire: Wire) => readonly string[],
) {
  const parsed = schema.safeParse(value);
  const faults = parsed.success ? faultsOf(parsed.data) : schemaFaults(parsed.error);
  if (!parsed.success || faults.length > 0) return { kind: "off", faults } as const;
  return { kind: "answer", wire: parsed.data } as const;
}

/** Parses a generator's answer. It must judge each criterion once and nothing else. */
export function parseBallot(value: unknown, ids: readonly string[]): ParsedAnswer<Ballot> {
  const parsed = parseWire(ballotWire, value, ({ criteria }) =>
    idFaults(
      criteria.map(({ id }) => id),
      ids,
    ),
  );
  if (parsed.kind === "off") return parsed;
  const criteria = parsed.wire.criteria.map((finding) => ({ ...finding, met: MET[finding.met] }));
  return { ...parsed, answer: { ...asRead(parsed.wire), criteria } };
}

export function parseCritique(value: unknown): ParsedAnswer<Critique> {
  const parsed = parseWire(critiqueWire, value, () => []);
  return parsed.kind === "off" ? parsed : { ...parsed, answer: asRead(parsed.wire) };
}

/** Parses the synthesiser's answer. A criterion in neither list is open. */
export function parseSynthesis(value: unknown, ids: readonly string[]): ParsedAnswer<Synthesis> {
  const parsed = parseWire(synthesisWire, value, ({ met_criteria, unmet_criteria }) => {
    const named = [...met_criteria, ...unmet_criteria.map(({ id }) => id)];
    return strayFaults("met_criteria and unmet_criteria", named, ids);
  });
  return parsed.kind === "off" ? parsed : { ...parsed, answer: asRead(parsed.wire) };
}

const MET = { yes: true, no: false, unclear: null } as const;

function idFaults(given: readonly string[], ids: readonly string[]): string[] {
  const missing = ids.filter((id) => !given.includes(id));
  const faults = strayFaults("criteria", given, ids);
  return missing.length === 0 ? faults : [`criteria: ${missing.join(", ")} not answered`, ...faults];
}

function strayFaults(name: string, given: readonly string[], ids: readonly string[]): string[] {
  const faults: string[] = [];
  const doubled = ids.filter((id) => given.indexOf(id) !== given.lastIndexOf(id));
  if (doubled.length > 0) faults.push(`${name}: ${doubled.join(", ")} given more than once`);
  if (given.some((id) => !ids.includes(id))) faults.push(`${name}: an id that is no criterion's`);
  return faults;
}

/** Faults reported for one repair. */
const MAX_FAULTS = 8;

/** Lists where and how an answer violates the schema. It never quotes the answer, which may hold a third party's text. */
function schemaFaults(error: z.ZodError): string[] {
  const faults = error.issues.map((issue) => `${placeOf(issue.path)}: ${describeIssue(issue)}`);
  return [...new Set(faults)].slice(0, MAX_FAULTS);
}

function describeIssue(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "too_big":
      return `more than ${issue.maximum}${UNITS[issue.origin] ?? ""}`;
    case "too_small":
      return `less than ${issue.minimum}${UNITS[issue.origin] ?? ""}`;
    case "invalid_value":
      return `none of ${issue.values.map(String).join(", ")}`;
    case "invalid_type":
      return "missing, or of another type";
    case "unrecognized_keys":
      return "has members that the schema does not have";
    case "custom":
      return "empty, or not storable as text";
    default:
      return "not as the schema has it";
  }
}

const UNITS: Readonly<Record<string, string>> = { string: " characters", array: " entries" };

function placeOf(path: readonly PropertyKey[]): string {
  return path.length === 0 ? "the answer" : path.map(String).join(".");
}
