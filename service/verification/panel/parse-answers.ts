import type { z } from "zod";
import { ballotWire, critiqueWire, synthesisWire } from "./answer-schemas.ts";
import type { Ballot, CriterionFinding, Critique, Synthesis } from "./types.ts";

/** An answer on the schema, as it came but for what was too long of it, and as the panel reads it; or what is off it, in words of ours alone. */
export type ParsedAnswer<Answer> =
  | { readonly kind: "answer"; readonly wire: unknown; readonly answer: Answer }
  | { readonly kind: "off"; readonly faults: readonly string[] };

/** A generator's answer, which has to judge every one of the criteria once and nothing else. */
export function parseBallot(value: unknown, ids: readonly string[]): ParsedAnswer<Ballot> {
  const parsed = ballotWire.safeParse(value);
  if (!parsed.success) return { kind: "off", faults: faultsOf(parsed.error) };
  const wire = parsed.data;
  const faults = idFaults(
    "criteria",
    wire.criteria.map(({ id }) => id),
    ids,
  );
  if (faults.length > 0) return { kind: "off", faults };
  const answer: Ballot = {
    score: wire.score,
    confidence: wire.confidence,
    criteria: wire.criteria.map(findingOf),
    objections: wire.objections,
    uncheckableClaims: wire.uncheckable_claims,
    instructionsFound: wire.instructions_found,
    reasoning: wire.reasoning,
  };
  return { kind: "answer", wire, answer };
}

/** The critic's answer. */
export function parseCritique(value: unknown): ParsedAnswer<Critique> {
  const parsed = critiqueWire.safeParse(value);
  if (!parsed.success) return { kind: "off", faults: faultsOf(parsed.error) };
  const wire = parsed.data;
  const answer: Critique = {
    challenges: wire.challenges,
    missedIssues: wire.missed_issues,
    fabricationRisk: wire.fabrication_risk,
    fabricationReason: wire.fabrication_reason,
    specGaming: wire.spec_gaming,
    specGamingReason: wire.spec_gaming_reason,
    caseFor: wire.case_for,
    caseAgainst: wire.case_against,
    confidence: wire.confidence,
  };
  return { kind: "answer", wire, answer };
}

/** The synthesiser's answer; a criterion that stands in neither list is open. */
export function parseSynthesis(value: unknown, ids: readonly string[]): ParsedAnswer<Synthesis> {
  const parsed = synthesisWire.safeParse(value);
  if (!parsed.success) return { kind: "off", faults: faultsOf(parsed.error) };
  const wire = parsed.data;
  const named = [...wire.met_criteria, ...wire.unmet_criteria.map(({ id }) => id)];
  const faults = strayFaults("met_criteria and unmet_criteria", named, ids);
  if (faults.length > 0) return { kind: "off", faults };
  const answer: Synthesis = {
    metCriteria: wire.met_criteria,
    unmetCriteria: wire.unmet_criteria,
    keyObjections: wire.key_objections,
    reasoning: wire.reasoning,
    strongestDissent: wire.strongest_dissent,
  };
  return { kind: "answer", wire, answer };
}

type WireFinding = z.infer<typeof ballotWire>["criteria"][number];

function findingOf({ id, met, evidence }: WireFinding): CriterionFinding {
  return { id, met: MET[met], evidence };
}

const MET = { yes: true, no: false, unclear: null } as const;

function idFaults(name: string, given: readonly string[], ids: readonly string[]): string[] {
  const missing = ids.filter((id) => !given.includes(id));
  const faults = strayFaults(name, given, ids);
  if (missing.length > 0) faults.unshift(`${name}: ${missing.join(", ")} not answered`);
  return faults;
}

function strayFaults(name: string, given: readonly string[], ids: readonly string[]): string[] {
  const faults: string[] = [];
  const doubled = ids.filter((id) => given.indexOf(id) !== given.lastIndexOf(id));
  if (doubled.length > 0) faults.push(`${name}: ${doubled.join(", ")} given more than once`);
  if (given.some((id) => !ids.includes(id))) faults.push(`${name}: an id that is no criterion's`);
  return faults;
}

/** As many as one repair can mend. */
const MAX_FAULTS = 8;

/** Where and how an answer is off the schema. Its own words stay out: they may come from a stranger's text. */
function faultsOf(error: z.ZodError): string[] {
  const faults = error.issues.map((issue) => `${placeOf(issue.path)}: ${describeIssue(issue)}`);
  return [...new Set(faults)].slice(0, MAX_FAULTS);
}

/** Limits and values are those of our schemas. */
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

/** Issues lie at members of the schema, so the path has names of ours and numbers alone. */
function placeOf(path: readonly PropertyKey[]): string {
  return path.length === 0 ? "the answer" : path.map(String).join(".");
}
