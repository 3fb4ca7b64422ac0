import { type Column, getTableName, type SQL, sql, type Table } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { boolean, customType, integer, numeric, pgSchema, text } from "drizzle-orm/pg-core";
import type { Hex } from "viem";
import * as columns from "./index-columns.ts";

/** Column types that read and compare as Ponder's own do: `hex` in lower case, `bigint` as numeric. */
const TYPES = {
  bigint: () => numeric({ precision: 78, scale: 0, mode: "bigint" }),
  boolean,
  hex: customType<{ data: Hex; driverData: string }>({
    dataType: () => "text",
    toDriver: (value) => value.toLowerCase(),
  }),
  integer,
  text,
} as unknown as columns.IndexTypes;

export type IndexTables = ReturnType<typeof bindTables>;

const bound = new Map<number, IndexTables>();

/** Tables of a chain's index, as the views of the schema `chain_<id>` show them. */
export function indexOf(chainId: number): IndexTables {
  const known = bound.get(chainId);
  if (known !== undefined) return known;
  const tables = bindTables(viewsSchemaOf(chainId));
  bound.set(chainId, tables);
  return tables;
}

/** Ponder's own table of the index with its progress on the chain. */
export function checkpointOf(chainId: number) {
  return pgSchema(viewsSchemaOf(chainId)).table("_ponder_checkpoint", {
    finalizedCheckpoint: text().notNull(),
  });
}

/** Schema of the views that readers of a chain's index use, whichever build they show. */
export function viewsSchemaOf(chainId: number): string {
  return `chain_${chainId}`;
}

function bindTables(schema: string) {
  const { table } = pgSchema(schema);
  return {
    agent: table("agent", columns.agent(TYPES)),
    agentWallet: table("agent_wallet", columns.agentWallet(TYPES)),
    block: table("block", columns.block(TYPES)),
    bondChange: table("bond_change", columns.bondChange(TYPES)),
    job: table("job", columns.job(TYPES)),
    oracleRoot: table("oracle_root", columns.oracleRoot(TYPES)),
    oracleScore: table("oracle_score", columns.oracleScore(TYPES)),
    sanctionsChange: table("sanctions_change", columns.sanctionsChange(TYPES)),
    scoreRequest: table("score_request", columns.scoreRequest(TYPES)),
    transaction: table("transaction", columns.transaction(TYPES)),
    verdictEvent: table("verdict_event", columns.verdictEvent(TYPES)),
    wallet: table("wallet", columns.wallet(TYPES)),
  };
}

/** A whole number of the index, such as a block's number or Unix seconds, as a JavaScript number. */
export function numberOf<Of extends Column>(
  column: Of,
): SQL<Of["_"]["notNull"] extends true ? number : number | null> {
  return sql`${column}::float8`;
}

/** Whether a chain's index has these tables. */
export async function hasTables(
  db: NodePgDatabase,
  chainId: number,
  ...tables: readonly Table[]
): Promise<boolean> {
  const [row] = await db.select({ there: tablesExist(chainId, ...tables) }).from(sql`(values (1)) as one`);
  return row?.there === true;
}

/** An expression that is true where the tables of the index exist. */
export function tablesExist(chainId: number, ...tables: readonly Table[]): SQL<boolean> {
  const found = tables.map(
    (table) => sql`to_regclass(${`${viewsSchemaOf(chainId)}.${getTableName(table)}`}) is not null`,
  );
  return sql`(${sql.join(found, sql` and `)})`;
}
