import { parseArgs } from "node:util";
import { migrateDatabase } from "../../service/db/database.ts";
import { ROLES } from "../../service/db/role-rights.ts";
import { createRoles } from "../../service/db/roles.ts";
import { withDatabase } from "../command.ts";
import type { Invocation } from "../config.ts";

/** Usage of `ahs migrate`. */
export const USAGE = `Usage: ahs migrate [--roles]
  --roles  also create the database roles that each process runs under (docs/database.md)`;

/** `ahs migrate`: brings the schema `ahs` to the newest version; with --roles, makes the roles that each process runs under. */
export async function run({ config, args, out }: Invocation): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: { roles: { type: "boolean", default: false } } });
  await withDatabase(config, "migrate", async (db) => {
    if (values.roles) {
      const client = await db.$client.connect();
      await createRoles(client).finally(() => client.release());
    }
    await migrateDatabase(db);
    out("the database schema is at the newest version");
    if (values.roles) out(`roles: ${ROLES.join(", ")}; docs/database.md describes how users log in for them`);
  });
}
