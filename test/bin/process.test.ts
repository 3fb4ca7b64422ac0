import { randomUUID } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import { createLogger } from "../../bin/process.ts";
import { insertSpec } from "../../service/verification/verdicts/specs.ts";
import { useDatabase } from "../support/test-database.ts";

const SECRET = "an ordered text that nobody else may read";

const db = useDatabase();

/** Returns the error fields of a log line. */
function logged(err: unknown): string {
  let lines = "";
  const sink = new Writable({
    write(chunk, _encoding, done) {
      lines += String(chunk);
      done();
    },
  });
  createLogger({ logLevel: "info" }, "test", sink).error({ err }, "something failed");
  return lines;
}

async function refusal(query: Promise<unknown>): Promise<unknown> {
  return query.then(
    () => expect.unreachable("the database took it"),
    (error: unknown) => error,
  );
}

const ask = (text: string, values: readonly unknown[] = []) => refusal(db.$client.query(text, [...values]));

/** A row that a constraint refuses: the database repeats it whole. */
async function refusedRow(): Promise<unknown> {
  await db.$client.query("alter table ahs.job_spec add constraint refuses check (domain <> 'refused')");
  return refusal(
    insertSpec(db, {
      id: randomUUID(),
      clientAddr: "0xc1",
      providerAddr: null,
      specText: SECRET,
      acceptanceCriteria: null,
      domain: "refused",
      specHash: "0x1",
      job: null,
      clientSignature: null,
      registeredBlock: null,
      createdAt: new Date(),
    }),
  );
}

describe("the log of a failing database", () => {
  it("names the failure, and no text of the row", async () => {
    const error = await refusedRow();
    expect(JSON.stringify(error)).toContain(SECRET);
    const line = logged(error);
    expect(line).not.toContain(SECRET);
    expect(JSON.parse(line)).toMatchObject({
      err: {
        type: "DatabaseError",
        code: "23514",
        constraint: "refuses",
        table: "job_spec",
        detail: "[Redacted]",
      },
    });
    expect(line).toContain("violates check constraint");
  });

  it("hides it in causes and in errors that another holds", async () => {
    const error = await ask("select $1::text::int", [SECRET]);
    const wrapped = new Error("not stored", { cause: error });
    const holding = Object.assign(new Error("both failed"), { first: error });
    for (const err of [error, wrapped, holding, new AggregateError([error, wrapped], "all failed")]) {
      const line = logged(err);
      expect(line).not.toContain(SECRET);
      expect(line).toContain("invalid input syntax for type integer");
    }
  });

  it("hides the statement and the values that a client puts into its errors", () => {
    const line = logged(Object.assign(new Error("failed"), { query: SECRET, params: [SECRET] }));
    expect(line).not.toContain(SECRET);
  });

  it("leaves other errors whole", () => {
    const error = Object.assign(new Error('no file "a"', { cause: new Error("gone") }), { code: "ENOENT" });
    const { err } = JSON.parse(logged(error));
    expect(err).toMatchObject({ type: "Error", message: 'no file "a": gone', code: "ENOENT" });
    expect(err.stack).toContain("process.test.ts");
    expect(JSON.parse(logged("a text")).err).toBe("a text");
  });
});

it("no other file of the service and its programs reads this machine's date", () => {
  const files = globSync(["service/**/*.{ts,tsx}", "bin/**/*.ts", "src/**/*.ts"]);
  const reads = files.filter((file) => /\bDate\.now\b|\bnew Date\(\)/.test(readFileSync(file, "utf8")));
  expect(reads).toEqual(["bin/process.ts"]);
  expect(files.length).toBeGreaterThan(500);
});
