import { Client } from "pg";
import { expect, test } from "vitest";
import { withOwnNames } from "../../../service/db/own-names.ts";

const OWN = "-c search_path=pg_catalog";

test.each([
  ["postgres://u:p@h:5433/db", null, { host: "h", options: OWN }],
  [
    "postgres://u:p@h/db?host=/run/pg",
    "-c work_mem=1MB",
    { host: "/run/pg", options: `-c work_mem=1MB ${OWN}` },
  ],
  ["postgres://u:p@/db?host=/run/pg", null, { host: "/run/pg", options: OWN }],
  ["postgres://u:p w@h/db", null, { host: "h", password: "p w", options: OWN }],
  ["postgres://u:p%26w@h/db", null, { host: "h", password: "p&w", options: OWN }],
  // The last one counts.
  [
    "postgres://u:p@h/db?options=-c%20search_path%3Dpublic&application_name=a",
    null,
    { host: "h", options: `-c search_path=public ${OWN}`, application_name: "a" },
  ],
])("%s has names without a schema be PostgreSQL's own", (url, options, expected) => {
  const { connectionParameters } = new Client({
    connectionString: withOwnNames(url, options),
  }) as unknown as {
    connectionParameters: object;
  };
  expect(connectionParameters).toMatchObject({ user: "u", database: "db", ...expected });
});
