import type { Database } from "../../db/database.ts";
import { QUERY_DEADLINE } from "../../db/query-deadline.ts";
import { remembered } from "../../db/remembered.ts";
import type { Grade } from "../../model/score/record.ts";

/** What the report of one nightly scan says of all scores. */
export type ScanNight = {
  /** UTC day, YYYY-MM-DD. */
  readonly night: string;
  readonly grades: Readonly<Record<Grade | "insufficient", number>>;
  /** Mean of all scores in hundredths; null where nobody had one. */
  readonly meanScoreHundredths: number | null;
};

const NIGHTS = 60;
const KEPT_MS = 60_000;

/** Reads the reports of the newest nightly scans that are done, oldest first, at most every minute. */
export function createNightReader(
  db: Database,
  { chainId, monotonicMs }: { readonly chainId: number; readonly monotonicMs: () => number },
): () => Promise<readonly ScanNight[]> {
  const read = remembered(() => readNights(db, chainId), {
    keyOf: () => "all",
    milliseconds: KEPT_MS,
    entries: 1,
    monotonicMs,
  });
  return () => read(undefined);
}

async function readNights(db: Database, chainId: number): Promise<readonly ScanNight[]> {
  const { rows } = await db.$client.query<{
    night: string;
    grades: ScanNight["grades"];
    mean: number | null;
  }>({
    ...QUERY_DEADLINE,
    name: "scan_nights",
    // In the order of the index of nights; a day has one such scan, whenever it was made up for.
    text: `select night, report -> 'grades' as grades, (report ->> 'meanScoreHundredths')::float8 as mean
           from ahs.scan_run
           where chain_id = $1 and cause = 'nightly' and state = 'done' and report is not null
           order by night desc limit ${NIGHTS}`,
    values: [chainId],
  });
  return rows.map(({ night, grades, mean }) => ({ night, grades, meanScoreHundredths: mean })).reverse();
}
