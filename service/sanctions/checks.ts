import type { Deployment } from "../chain/deployments.ts";
import { type Check, concern, fault, fine, type Verdict } from "../check.ts";
import type { Database } from "../db/database.ts";
import { ageSeconds, readSanctionsSources, type SourceStatus } from "./sources.ts";

/** Whether the sources of sanctions are up to date. */
export function sanctionsChecks(
  { db, deployment }: { readonly db: Database; readonly deployment: Deployment },
  now: () => Promise<Date>,
): readonly Check[] {
  return [
    {
      name: "sanctions",
      run: async () => {
        const sources = await readSanctionsSources(db, deployment);
        const at = await now();
        return sources.map((source) => judgeSanctions(source, ageSeconds(source, at), sources.length === 1));
      },
    },
  ];
}

/** Seconds after which the imported list should have been renewed, and must have been. */
const [OLD_LIST, STALE_LIST] = [2 * 86_400, 14 * 86_400];

/** Whether a source of sanctions is up to date; `isOnly` if it is the only source. */
export function judgeSanctions(source: SourceStatus, ageSeconds: number | null, isOnly: boolean): Verdict {
  const name = source.source;
  if (name === "chainalysis-oracle") {
    const { unchecked } = source;
    if (ageSeconds === null || unchecked === null)
      return concern(`${name}: nothing indexed yet`, 'wait for "ahs index"');
    return unchecked > 0
      ? concern(
          `${name}: ${unchecked} wallets not asked about yet`,
          'see that "ahs work" runs and reaches the node',
        )
      : fine(`${name}: ${source.entries} entries at ${source.edition}`);
  }
  const advice = 'run "ahs sanctions import" daily';
  if (ageSeconds === null) return (isOnly ? fault : concern)(`${name}: never imported`, advice);
  const detail = `${name}: ${source.entries} entries, imported ${Math.floor(ageSeconds / 3_600)} h ago`;
  if (ageSeconds > STALE_LIST) return fault(detail, advice);
  return ageSeconds > OLD_LIST ? concern(detail, advice) : fine(detail);
}
