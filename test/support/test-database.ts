import { randomBytes } from "node:crypto";
import { Client } from "pg";
import { inject } from "vitest";

export type TestDatabase = { readonly url: string; readonly drop: () => Promise<void> };

/** An empty database of its own on the run's PostgreSQL. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const server = inject("postgresUrl");
  const name = `test_${randomBytes(6).toString("hex")}`;
  await onServer(server, `create database ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => onServer(server, `drop database if exists ${name} with (force)`) };
}

async function onServer(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(statement);
  await client.end();
}
