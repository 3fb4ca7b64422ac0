import { join } from "node:path";
import { expect, test } from "vitest";
import { checkDatabaseDisk, checkDisk } from "../../../bin/doctor/disk.ts";
import { useFolder } from "../../support/use-folder.ts";

const folder = useFolder();

test("measures the disk that a folder will be on, and names the folder that is there", async () => {
  const { detail } = await checkDisk(join(folder, "not", "made", "yet"));
  expect(detail.startsWith(`${folder}: `)).toBe(true);
});

test.each([
  ["postgres://u@127.0.0.1:5432/ahs", true],
  ["postgres://u@[::1]:5432/ahs", true],
  ["postgres:///ahs?host=/run/postgresql", true],
  ["postgres://u@db.example:5432/ahs", false],
])("the disk of the database at %s is measured: %s", async (url, isMeasured) => {
  const { level, detail } = await checkDatabaseDisk(url, { folder });
  if (isMeasured) expect(detail.startsWith(`${folder}: `)).toBe(true);
  else expect([level, detail]).toEqual(["skip", expect.stringContaining("not known")]);
});

test.each([null, "/no/such/folder"])("a database here whose folder is %s is not known", async (unseen) => {
  const verdict = await checkDatabaseDisk("postgres://u@127.0.0.1/ahs", { folder: unseen });
  expect(verdict.level).toBe("skip");
});
