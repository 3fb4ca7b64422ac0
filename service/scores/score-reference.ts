import type { Database } from "../db/database.ts";
import { QUERY_DEADLINE } from "../db/query-deadline.ts";

/** What a stored score says of how it was made. */
export type ScoreReference = {
  readonly modelVersion: string;
  /** keccak256 that names everything it was computed from. */
  readonly inputsHash: string;
};

/** Reads how a score of the history was made, by its row's id; null where there is no such row. */
export async function readScoreReference(db: Database, scoreId: number): Promise<ScoreReference | null> {
  const { rows } = await db.$client.query<{ model_version: string; inputs_hash: string }>({
    ...QUERY_DEADLINE,
    name: "score_reference",
    text: "select model_version, inputs_hash from ahs.score where id = $1",
    values: [scoreId],
  });
  const [row] = rows;
  return row === undefined ? null : { modelVersion: row.model_version, inputsHash: row.inputs_hash };
}
