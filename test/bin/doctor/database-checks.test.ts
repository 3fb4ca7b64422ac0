import { createServer } from "node:net";
import { expect, test } from "vitest";
import { parseConfig } from "../../../bin/config.ts";
import { databaseChecks } from "../../../bin/doctor/database-checks.ts";
import { runChecks } from "../../../bin/doctor/run-checks.ts";

/** A PostgreSQL that refuses every connection with a SQLSTATE. */
async function refusing(code: string) {
  const fields = `SFATAL\0C${code}\0Mno entrance for user "u"\0\0`;
  const answer = Buffer.alloc(5);
  answer.write("E");
  answer.writeUInt32BE(4 + fields.length, 1);
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => socket.end(Buffer.concat([answer, Buffer.from(fields)])));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return { server, url: `postgres://u:wrong@127.0.0.1:${address.port}/x` };
}

test.each([
  ["28P01", "correct user and password in DATABASE_URL"],
  ["3D000", "correct the database's name"],
  ["53300", "see that PostgreSQL at DATABASE_URL answers"],
])("a database that refuses with %s is reported once, with advice of its own", async (code, advice) => {
  const { server, url } = await refusing(code);
  const { checks, close } = databaseChecks(parseConfig({}), url, null);
  const [first, ...others] = await runChecks(checks, { deadlineMs: 10_000, reasonOf: String });
  await close();
  server.close();
  expect(first).toMatchObject({ check: "database", level: "fail", advice: expect.stringContaining(advice) });
  expect(others.map(({ check, level, detail }) => [check, level, detail])).toEqual(
    ["migrations", "rights", "clock", "database use", "database disk"].map((check) => [
      check,
      "warn",
      "not checked: no database",
    ]),
  );
});
