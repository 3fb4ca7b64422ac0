import { Problem } from "../../access/problems.ts";
import type { StoredEvidence, StoredTexts, VerdictView } from "../../verification/verdicts/verdict-view.ts";

/** What reads verdicts; each answers null for an id that is not there. */
export type VerdictPorts = {
  readonly verdicts: {
    find(id: string): Promise<VerdictView | null>;
    /** Of the decision with this number, or the newest where it is null. */
    evidence(id: string, run: number | null): Promise<StoredEvidence | null>;
    /** Of a verdict that exists. */
    texts(id: string): Promise<StoredTexts>;
  };
};

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The id of a path in its stored form; throws the 404 of what cannot be one. */
export function verdictIdOf(given: string): string {
  if (!UUID.test(given)) throw unknownVerdict(given);
  return given.toLowerCase();
}

/** The verdict that a path names; throws the 404 of an id that is no UUID, or that no verdict has. */
export async function requireVerdict(given: string, { verdicts }: VerdictPorts): Promise<VerdictView> {
  const view = await verdicts.find(verdictIdOf(given));
  if (view === null) throw unknownVerdict(given);
  return view;
}

/** The 404 of an id. */
export function unknownVerdict(given: string): Problem {
  return new Problem("not-found", `There is no verdict “${given.slice(0, 64)}”.`);
}
