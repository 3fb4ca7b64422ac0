import { Problem } from "../../access/problems.ts";
import type { VerdictView } from "../../verification/verdicts/verdict-view.ts";

/** Services of endpoints about a verdict. */
export type VerdictNeeds = {
  readonly verdicts: { find(id: string): Promise<VerdictView | null> };
};

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Returns the id of a path in its stored form; throws the 404 of an invalid one. */
export function verdictIdOf(given: string): string {
  if (!UUID.test(given)) throw unknownVerdict(given);
  return given.toLowerCase();
}

/** Reads the verdict of a path; throws the 404 of an invalid or unknown id. */
export async function requireVerdict(given: string, { verdicts }: VerdictNeeds): Promise<VerdictView> {
  const view = await verdicts.find(verdictIdOf(given));
  if (view === null) throw unknownVerdict(given);
  return view;
}

/** The 404 of an id. */
export function unknownVerdict(given: string): Problem {
  return new Problem("not-found", `There is no verdict “${given.slice(0, 64)}”.`);
}
