import { z } from "@hono/zod-openapi";
import type { Address } from "viem";
import type { Owner } from "../../access/access.ts";
import { MICRO } from "../../model/score/fixed-point.ts";
import type { ConfidenceLevel, Grade, RoutingAction } from "../../model/score/record.ts";
import { DEFAULT_ROUTING, type RoutingPolicy } from "../../model/score/route.ts";
import { DEFAULT_VERSION, type StoredPolicy, type writePolicy } from "../../scores/routing-policies.ts";
import {
  ADDRESS_PATTERN,
  addressSchema,
  eip55Schema,
  isoSchema,
  microDecimal,
  num,
  toEip55,
  toUsd,
} from "./values.ts";

/** Services of endpoints about routing policies. */
export type PolicyNeeds = {
  readonly policies: {
    /** The policy of an owner (see `ownerText`); null while the default table applies. */
    of(owner: string): Promise<StoredPolicy | null>;
    /** Null if the stored version matches none of `ifVersion`; then nothing is written. */
    write(write: Parameters<typeof writePolicy>[1]): Promise<StoredPolicy | null>;
    /** The owner's wallets: itself, or the buyer of the key; lower-case. */
    ownWallets(owner: Owner): Promise<readonly Address[]>;
  };
};

const GRADES = ["A", "B", "C", "D", "E", "F"] as const satisfies readonly Grade[];
const LEVELS = ["HIGH", "MEDIUM", "LOW", "INSUFFICIENT"] as const satisfies readonly ConfidenceLevel[];
/** Levels of wallets that have a grade. */
const GRADED_LEVELS = ["HIGH", "MEDIUM", "LOW"] as const satisfies readonly ConfidenceLevel[];
const THREAT_ACTIONS = ["ignore", "escrow", "reject"] as const;
const ACTIONS = ["instant_settle", "escrow", "reject"] as const satisfies readonly RoutingAction[];
/** The greatest amount of a payment: a billion US dollars. */
export const MAX_AMOUNT_MICRO_USD = 1_000_000_000 * MICRO;
const MAX_MULTIPLE_MICROS = 10 * MICRO;
/** Enough for the known partners of a marketplace, and cheap to read on every route call. */
const MAX_ALLOWLISTED = 1_000;

const gradesSchema = z.array(z.enum(GRADES));
/** An enumeration for member names: piped, so that a fault names the expected values. */
const oneOf = <Names extends readonly [string, ...string[]]>(names: Names) => z.string().pipe(z.enum(names));

function described<Schema>(names: readonly string[], schema: Schema): Record<string, Schema> {
  return Object.fromEntries(names.map((name) => [name, schema]));
}

const overridesSchema = z
  .partialRecord(oneOf(GRADES), z.partialRecord(oneOf(LEVELS), z.enum(ACTIONS)))
  .openapi("ConfidenceOverrides", {
    type: "object",
    description: "Actions by grade and confidence level, which go before the grade sets",
    properties: described(GRADES, {
      type: "object",
      properties: described(GRADED_LEVELS, { type: "string", enum: [...ACTIONS] }),
    }),
    example: { B: { HIGH: "instant_settle" } },
  });

const MAX_INSTANT =
  "Greatest amount_usd that settles at once, with at most 6 decimals; above it instant_settle becomes escrow. Null for no limit of its own";
const SAFE_MULTIPLE =
  "Factor, 0 to 10, of the available safe amount up to which an amount_usd settles at once; 0: none does";

function defaultGrades(grades: readonly Grade[]): string {
  return `Default: ${grades.join(", ")}, without the grades that another set names`;
}

const SHAPE = {
  instant_grades: gradesSchema.optional().openapi({
    description: `Grades that settle at once. ${defaultGrades(DEFAULT_ROUTING.instantGrades)}`,
    example: ["A"],
  }),
  escrow_grades: gradesSchema.optional().openapi({
    description: `Grades that wait in escrow. ${defaultGrades(DEFAULT_ROUTING.escrowGrades)}`,
    example: ["B", "C"],
  }),
  reject_grades: gradesSchema.optional().openapi({
    description: "Grades that reject: all that are in neither other set. If it is sent, it must be these",
    example: ["D", "E", "F"],
  }),
  escrow_disabled: z
    .boolean()
    .default(DEFAULT_ROUTING.escrowDisabled)
    .openapi({ description: "Turns every escrow into a reject" }),
  allowlist: z
    .array(addressSchema)
    .max(MAX_ALLOWLISTED)
    .default([])
    .openapi({
      type: "array",
      items: { type: "string", pattern: ADDRESS_PATTERN.source },
      maxItems: MAX_ALLOWLISTED,
      description:
        "Wallets that settle whatever their score, unless they are sanctioned; never the caller's own",
    }),
  confidence_overrides: overridesSchema.default({}),
  insufficient_action: z
    .enum(ACTIONS)
    .default(DEFAULT_ROUTING.insufficientAction)
    .openapi({ description: "For wallets never scored or without enough history" }),
  max_instant_usd: microDecimal({ least: 0, most: MAX_AMOUNT_MICRO_USD })
    .nullable()
    .default(DEFAULT_ROUTING.maxInstantMicroUsd)
    .openapi({ type: ["string", "number", "null"], description: MAX_INSTANT, example: 25, default: null }),
  safe_amount_multiple: microDecimal({ least: 0, most: MAX_MULTIPLE_MICROS })
    .default(DEFAULT_ROUTING.safeAmountMultipleMicros)
    .openapi({ description: SAFE_MULTIPLE, example: 1, default: 1 }),
  min_confidence_for_instant: z
    .enum(GRADED_LEVELS)
    .nullable()
    .default(DEFAULT_ROUTING.minConfidenceForInstant)
    .openapi({
      description:
        "Lowest confidence that settles at once, with or without amount_usd; below it instant_settle becomes escrow. Null for any",
      example: "MEDIUM",
    }),
  threat_action: z.enum(THREAT_ACTIONS).default("ignore").openapi({
    description:
      "For wallets on an imported list of threats: ignore decides as without the list, escrow holds what would settle at once, reject rejects. An allowlisted wallet settles all the same",
  }),
};

/** The body of PUT /ahs/route/policy. An unknown member is a fault: a misspelled rule must not fall to its default. */
export const policyBodySchema = z
  .strictObject({
    ...SHAPE,
    updated_at: z
      .unknown()
      .optional()
      .openapi({ description: "Of the answer of GET, so that it can be sent back; ignored" }),
  })
  .superRefine(checkGrades)
  .superRefine(checkOverrides)
  .openapi("RoutingPolicyInput");

export type PolicyBody = z.infer<typeof policyBodySchema>;

export const policySchema = z
  .object({
    ...SHAPE,
    instant_grades: SHAPE.instant_grades.unwrap(),
    escrow_grades: SHAPE.escrow_grades.unwrap(),
    reject_grades: gradesSchema.openapi({ example: ["D", "E", "F"] }),
    escrow_disabled: z.boolean(),
    allowlist: z.array(eip55Schema),
    confidence_overrides: overridesSchema,
    insufficient_action: z.enum(ACTIONS).openapi({ example: "escrow" }),
    max_instant_usd: num(MAX_INSTANT, 25).nullable(),
    safe_amount_multiple: num(SAFE_MULTIPLE, 1),
    min_confidence_for_instant: SHAPE.min_confidence_for_instant.unwrap(),
    threat_action: z.enum(THREAT_ACTIONS).openapi({ example: "ignore" }),
    updated_at: isoSchema
      .nullable()
      .openapi({ description: "When it was put; null while the default table holds" }),
  })
  .openapi("RoutingPolicy");

type GivenSets = {
  readonly instant_grades?: readonly Grade[] | undefined;
  readonly escrow_grades?: readonly Grade[] | undefined;
  readonly reject_grades?: readonly Grade[] | undefined;
};

/** The sets of a body. An omitted set has its default grades, without those that a given set names. */
function gradeSetsOf(given: GivenSets): { readonly instant: Grade[]; readonly escrow: Grade[] } {
  const { instant_grades = [], escrow_grades = [], reject_grades = [] } = given;
  const named = new Set([...instant_grades, ...escrow_grades, ...reject_grades]);
  const unnamed = (grades: readonly Grade[]) => grades.filter((grade) => !named.has(grade));
  return {
    instant: [...(given.instant_grades ?? unnamed(DEFAULT_ROUTING.instantGrades))],
    escrow: [...(given.escrow_grades ?? unnamed(DEFAULT_ROUTING.escrowGrades))],
  };
}

/** Each grade is in at most one set, and `reject_grades`, if sent, equals the rest. */
function checkGrades(policy: GivenSets, context: z.RefinementCtx): void {
  const sets = gradeSetsOf(policy);
  const places = [
    ...sets.instant.map((grade, index) => ({ grade, set: "instant_grades", index })),
    ...sets.escrow.map((grade, index) => ({ grade, set: "escrow_grades", index })),
  ];
  places.forEach(({ grade, set, index }, place) => {
    const first = places.findIndex((other) => other.grade === grade);
    if (first === place) return;
    const message = `grade ${grade} is in ${places[first]?.set} already; each grade may be in one set`;
    context.addIssue({ code: "custom", message, path: [set, index], input: grade });
  });
  const { reject_grades: given } = policy;
  const rest = rejectedBy(places.map(({ grade }) => grade));
  if (given === undefined || isSameSet(given, rest)) return;
  const message = `reject_grades has to be ${listOf(rest)}, the grades of neither instant_grades nor escrow_grades, or absent`;
  context.addIssue({ code: "custom", message, path: ["reject_grades"], input: given });
}

/** A wallet without enough history has no grade, so no override can apply to it. */
function checkOverrides(
  { confidence_overrides }: { readonly confidence_overrides: z.infer<typeof overridesSchema> },
  context: z.RefinementCtx,
): void {
  for (const [grade, levels] of Object.entries(confidence_overrides)) {
    const input = levels?.INSUFFICIENT;
    if (input === undefined) continue;
    const message = `INSUFFICIENT has no grade; expected ${GRADED_LEVELS.join(", ")}, and insufficient_action for it`;
    context.addIssue({
      code: "custom",
      message,
      path: ["confidence_overrides", grade, "INSUFFICIENT"],
      input,
    });
  }
}

function isSameSet(a: readonly Grade[], b: readonly Grade[]): boolean {
  return a.length === b.length && b.every((grade) => a.includes(grade));
}

function rejectedBy(named: readonly Grade[]): Grade[] {
  return GRADES.filter((grade) => !named.includes(grade));
}

function listOf(grades: readonly Grade[]): string {
  return grades.length === 0 ? "empty" : grades.join(", ");
}

/** The policy of a body; repeated addresses count once. */
export function policyOf(body: PolicyBody): RoutingPolicy {
  const { instant, escrow } = gradeSetsOf(body);
  return {
    instantGrades: instant,
    escrowGrades: escrow,
    escrowDisabled: body.escrow_disabled,
    allowlist: [...new Set(body.allowlist)],
    confidenceOverrides: body.confidence_overrides,
    insufficientAction: body.insufficient_action,
    maxInstantMicroUsd: body.max_instant_usd,
    safeAmountMultipleMicros: body.safe_amount_multiple,
    minConfidenceForInstant: body.min_confidence_for_instant,
    threatAction: body.threat_action,
  };
}

/** A stored policy in the form of answers; null is the default table. */
export function renderPolicy(stored: StoredPolicy | null): z.infer<typeof policySchema> {
  const policy = stored?.policy ?? DEFAULT_ROUTING;
  return {
    instant_grades: [...policy.instantGrades],
    escrow_grades: [...policy.escrowGrades],
    reject_grades: rejectedBy([...policy.instantGrades, ...policy.escrowGrades]),
    escrow_disabled: policy.escrowDisabled,
    allowlist: policy.allowlist.map(toEip55),
    confidence_overrides: policy.confidenceOverrides,
    insufficient_action: policy.insufficientAction,
    max_instant_usd: toUsd(policy.maxInstantMicroUsd),
    safe_amount_multiple: policy.safeAmountMultipleMicros / MICRO,
    min_confidence_for_instant: policy.minConfidenceForInstant,
    threat_action: policy.threatAction ?? "ignore",
    updated_at: stored?.updatedAt.toISOString() ?? null,
  };
}

/** The strong entity tag of a policy, including the default table. */
export function policyTag(stored: StoredPolicy | null): string {
  return `"${stored?.version ?? DEFAULT_VERSION}"`;
}
