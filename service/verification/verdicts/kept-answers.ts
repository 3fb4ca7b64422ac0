import { GENERATOR_ROLES, type RoleName, type RoleRecord } from "../panel/types.ts";

/** Who answers at once; each round judges the answers of those before it. */
const ROUNDS: readonly (readonly RoleName[])[] = [GENERATOR_ROLES, ["critic"], ["synthesiser"]];

/**
 * What of a run that was broken off, or failed, need not be asked again: every answer of the rounds up to the first in which anyone
 * is missing. Who abstained is asked again, and whoever judged without them then judges anew.
 */
export function keptAnswers(records: readonly RoleRecord[]): readonly RoleRecord[] {
  const answers = new Map(
    records.filter(({ answer }) => answer.kind === "answer").map((record) => [record.role, record]),
  );
  const open = ROUNDS.findIndex((roles) => roles.some((role) => !answers.has(role)));
  return ROUNDS.slice(0, open === -1 ? ROUNDS.length : open + 1)
    .flat()
    .flatMap((role) => answers.get(role) ?? []);
}
