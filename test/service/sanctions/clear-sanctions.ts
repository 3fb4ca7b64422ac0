import type { Database } from "../../../service/db/database.ts";

/** Takes all that a test knew of sanctions, and its index, out of the database. */
export async function clearSanctions(db: Database): Promise<void> {
  await db.$client.query(`
    truncate ahs.sanctions_reading, ahs.sanctions_entry, ahs.sanctions_source, ahs.threat_list, ahs.threat_entry, ahs.enrolment;
    drop schema if exists chain_31337 cascade`);
}
