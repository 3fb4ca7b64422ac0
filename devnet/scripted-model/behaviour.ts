import { z } from "zod";
import { SCRIPTED_MODELS } from "./completion.ts";
import type { Question } from "./read-question.ts";
import { ROLES, type Role } from "./roles.ts";

/** Failures that the server is set to make; absent members change nothing. */
export const behaviourSchema = z.strictObject({
  /** Each answer waits so long. */
  slow_ms: z.int().min(0).max(600_000).optional(),
  /** Each call is answered with this status and an error. */
  fail: z.int().min(400).max(599).optional(),
  /** Seconds, sent as Retry-After along with `fail`. */
  retry_after: z.int().min(0).optional(),
  /** Answers are off the schema: each role's first one from now on, or all. */
  break_schema: z.enum(["once", "always"]).optional(),
  /** The model declines, as OpenAI's do, in `refusal`. */
  refuse: z.boolean().optional(),
  /**
   * Ballots are the opposite of the honest ones and the critic challenges all of them; without `roles`, by criteria
   * auditor, evidence checker and critic.
   */
  disagree: z.boolean().optional(),
  /** `json_schema` is refused with 400, as servers do that only know `json_object`. */
  json_schema_unsupported: z.boolean().optional(),
  /** Calls are never answered. */
  hang: z.boolean().optional(),
  /** Answers end in the middle, with `finish_reason` length. */
  truncate: z.boolean().optional(),
  /** Roles that all of this applies to; every role by default. */
  roles: z.array(z.enum(ROLES)).optional(),
  /** Models that all of this applies to; every model by default. */
  models: z.array(z.enum(SCRIPTED_MODELS)).optional(),
  /** Applies only to calls with this in a fenced text; to every call by default. */
  text: z.string().min(1).optional(),
  /** Number of calls that this applies to; every call by default. */
  times: z.int().min(1).optional(),
});

export type Behaviour = z.infer<typeof behaviourSchema>;

/** Roles that disagree when none is named: two generators, so that no majority is left. */
const DISSENTERS: readonly Role[] = ["criteria_auditor", "evidence_checker", "critic"];

/** How one call is to go. */
export type NextCall = Omit<Behaviour, "break_schema" | "text" | "models"> & {
  readonly breaksSchema: boolean;
};

/** Present settings of the server, call by call. */
export function createBehaviours() {
  let current: Behaviour = {};
  let left = Number.POSITIVE_INFINITY;
  let broken = new Set<Role>();
  return {
    tell: (behaviour: Behaviour): void => {
      current = behaviour;
      left = behaviour.times ?? Number.POSITIVE_INFINITY;
      broken = new Set();
    },
    /** How the next call of a role goes, which is counted. */
    next: ({
      role,
      blocks,
      model,
    }: Pick<Question, "role" | "blocks"> & { model: (typeof SCRIPTED_MODELS)[number] }): NextCall => {
      const { break_schema, text, models, ...rest } = current;
      const isConcerned =
        (current.roles === undefined || current.roles.includes(role)) &&
        (models === undefined || models.includes(model)) &&
        (text === undefined || blocks.some((block) => block.text.includes(text)));
      if (left <= 0 || !isConcerned) return { breaksSchema: false };
      left -= 1;
      const breaksSchema = break_schema === "always" || (break_schema === "once" && !broken.has(role));
      broken.add(role);
      const disagrees =
        current.disagree === true && (current.roles !== undefined || DISSENTERS.includes(role));
      return { ...rest, disagree: disagrees, breaksSchema };
    },
  };
}

/** Calls by role since the start or a reset, answered or not, and answers that followed a command outside the fences. */
export function createCallCounts() {
  const counts = new Map<Role, { calls: number; obeyed: number }>();
  const of = (role: Role) => counts.get(role) ?? { calls: 0, obeyed: 0 };
  return {
    called: (role: Role): void => {
      counts.set(role, { ...of(role), calls: of(role).calls + 1 });
    },
    obeyed: (role: Role): void => {
      counts.set(role, { ...of(role), obeyed: of(role).obeyed + 1 });
    },
    reset: (): void => counts.clear(),
    byRole: () => Object.fromEntries(ROLES.map((role) => [role, of(role)])),
  };
}
