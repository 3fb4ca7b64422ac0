import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { type Database, migrateDatabase } from "../../service/db/database.ts";
import { ROLES, type RoleName } from "../../service/db/role-rights.ts";
import { createRoles, putLogin } from "../../service/db/roles.ts";
import { type LocalFiles, writeSecret } from "./local-files.ts";

/** With which URL each kind of process reaches the database. */
export type ProcessUrls = { readonly index: string; readonly serve: string; readonly work: string };

/** One URL for all: the roles of a database that somebody else runs are not ours to make. */
export function sameUrlForAll(databaseUrl: string): ProcessUrls {
  return { index: databaseUrl, serve: databaseUrl, work: databaseUrl };
}

/**
 * Migrates the database that we run ourselves, and has a user for each kind of process, with no more rights than it needs;
 * their passwords are random and kept in the data directory.
 */
export async function urlsOfLeastRights(
  db: Database,
  files: LocalFiles,
  databaseUrl: string,
): Promise<ProcessUrls> {
  const passwords = keptPasswords(files);
  const client = await db.$client.connect();
  try {
    await createRoles(client);
    for (const role of ROLES) {
      await putLogin(client, { name: userOf(role), role, password: passwords[role] });
    }
  } finally {
    client.release();
  }
  await migrateDatabase(db);
  const urlOf = (role: RoleName) => {
    const url = new URL(databaseUrl);
    url.username = userOf(role);
    url.password = passwords[role];
    return url.href;
  };
  return { index: urlOf("ahs_index"), serve: urlOf("ahs_serve"), work: urlOf("ahs_work") };
}

function userOf(role: RoleName): string {
  return `${role}_user`;
}

function keptPasswords({ databaseUsersFile }: LocalFiles): Record<RoleName, string> {
  if (!existsSync(databaseUsersFile)) {
    const fresh = Object.fromEntries(ROLES.map((role) => [role, randomBytes(18).toString("base64url")]));
    writeSecret(databaseUsersFile, `${JSON.stringify(fresh)}\n`);
  }
  return JSON.parse(readFileSync(databaseUsersFile, "utf8")) as Record<RoleName, string>;
}
