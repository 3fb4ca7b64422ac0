import { type AskDeps, askRole, type Begin, type RoleResult, type RoleTask } from "./ask-role.ts";
import { type Ballot, GENERATOR_ROLES, type GeneratorRole, type RoleRecord } from "./types.ts";

export type KeptDeps = AskDeps & {
  /** Answers kept of an interrupted run of the same case: none of these roles is asked again. Abstentions among them are. */
  readonly known: readonly RoleRecord[];
  readonly begin: Begin;
  /** Takes each new answer and abstention, with all that it took, as soon as it is there; what it rejects with ends the run. */
  readonly keep: (record: RoleRecord) => Promise<void>;
  readonly signal: AbortSignal;
};

/** A role's answer: the known one, where it is on the schema and of the model that would be asked, or a new one, which is kept. */
export async function askKept<Answer>(deps: KeptDeps, task: RoleTask<Answer>): Promise<RoleResult<Answer>> {
  const known = knownResult(deps, task);
  if (known !== null) return known;
  const result = await askRole(deps, task, deps.signal);
  await deps.keep(result.record);
  return result;
}

export type Generators = Readonly<Record<GeneratorRole, RoleResult<Ballot>>>;

/** The four generators at once. Where one rejects, the others are ended, and what it rejected with is passed on once they are. */
export async function askGenerators(
  deps: KeptDeps,
  taskOf: (role: GeneratorRole) => RoleTask<Ballot>,
): Promise<Generators> {
  const ending = new AbortController();
  const signal = AbortSignal.any([deps.signal, ending.signal]);
  const asked = GENERATOR_ROLES.map(async (role) => {
    try {
      return [role, await askKept({ ...deps, signal }, taskOf(role))] as const;
    } catch (error) {
      // The first reason stays the signal's.
      ending.abort(error);
      throw error;
    }
  });
  await Promise.allSettled(asked);
  if (ending.signal.aborted) throw deps.signal.aborted ? deps.signal.reason : ending.signal.reason;
  const entries = await Promise.all(asked);
  // Every role is among them.
  return Object.fromEntries(entries) as Record<GeneratorRole, RoleResult<Ballot>>;
}

function knownResult<Answer>(
  { known, settings }: KeptDeps,
  task: RoleTask<Answer>,
): RoleResult<Answer> | null {
  const record = known.find(({ role, model }) => role === task.role && model === settings.models[task.role]);
  if (record === undefined || record.answer.kind === "abstained") return null;
  const parsed = task.parse(record.answer.answer);
  if (parsed.kind === "off") return null;
  return { record, answer: { kind: "answer", answer: parsed.answer }, isTooLong: false };
}
