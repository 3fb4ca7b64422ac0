import { join } from "node:path";
import { expect, test } from "vitest";
import {
  checkDatabaseDisk,
  checkDisk,
  judgeClock,
  judgeDisk,
  judgeIndex,
  judgeMigrations,
  judgeQuarantine,
  judgeQueue,
  judgeRoles,
  judgeUse,
  judgeVersion,
} from "../../../service/db/checks.ts";
import type { RoleFacts } from "../../../service/db/operation-facts.ts";
import { ROLES } from "../../../service/db/role-rights.ts";
import { useFolder } from "../../support/use-folder.ts";

test.each([
  [180_000, "ok"],
  [190_001, "ok"],
  [170_006, "warn"],
  [130_012, "fail"],
])("PostgreSQL %i is %s", (version, level) => {
  expect(judgeVersion({ version, user: "u" })).toMatchObject({ level });
});

test.each([
  [0, "fail"],
  [11, "fail"],
  [12, "ok"],
  [13, "warn"],
])("%i of 12 migrations: %s", (applied, level) => {
  expect(judgeMigrations({ applied, known: 12 })).toMatchObject({ level });
});

const roles = (exists: boolean, isMember: boolean): RoleFacts["roles"] =>
  ROLES.map((role) => ({ role, exists, isMember }));

test.each<[string, RoleFacts, boolean, string]>([
  [
    "no roles on a public chain",
    { roles: roles(false, false), lacking: [], largeObjects: [], ownsAll: true },
    false,
    "warn",
  ],
  [
    "no roles on the local chain",
    { roles: roles(false, false), lacking: [], largeObjects: [], ownsAll: true },
    true,
    "ok",
  ],
  [
    "rights missing",
    { roles: roles(true, true), lacking: ["ahs_work: score"], largeObjects: [], ownsAll: false },
    false,
    "fail",
  ],
  [
    "a role that can store large objects",
    { roles: roles(true, true), lacking: [], largeObjects: ["ahs_serve"], ownsAll: false },
    false,
    "warn",
  ],
  [
    "a user of a role",
    { roles: roles(true, true), lacking: [], largeObjects: [], ownsAll: false },
    false,
    "ok",
  ],
  ["the owner", { roles: roles(true, false), lacking: [], largeObjects: [], ownsAll: true }, false, "ok"],
  [
    "a user of no role",
    { roles: roles(true, false), lacking: [], largeObjects: [], ownsAll: false },
    false,
    "fail",
  ],
])("rights: %s", (_what, facts, isLocal, level) => {
  expect(judgeRoles(facts, isLocal)).toMatchObject({ level });
});

test.each([
  [0, 0, "ok", "webhooks: empty"],
  [3, 10.4, "ok", "webhooks: 3 waiting, the longest due for 10 s"],
  [3, 301, "warn", "webhooks: 3 waiting, the longest due for 301 s"],
  [3, 3_601, "fail", "webhooks: 3 waiting, the longest due for 3601 s"],
])("a queue of %i, due for %d s, is %s", (waiting, overdueSeconds, level, detail) => {
  expect(judgeQueue("webhooks", { waiting, overdueSeconds })).toMatchObject({ level, detail });
});

test.each([
  [0.2, "ok"],
  [-4.9, "ok"],
  [6, "fail"],
  [-6, "fail"],
])("a clock %d s ahead is %s", (seconds, level) => {
  expect(judgeClock(seconds)).toMatchObject({ level });
});

test("names each kind of quarantined work with its count, the oldest item and what to do", () => {
  const oldest = {
    subject: "0x01",
    error: "Error: bad row",
    failures: 3,
    since: new Date("2026-11-22T10:00:00Z"),
  };
  expect(judgeQuarantine([{ kind: "score", count: 2, oldest }])).toEqual([
    {
      level: "warn",
      detail:
        "score: 2 quarantined, the oldest 0x01 since 2026-11-22T10:00:00.000Z, 3 failures: Error: bad row",
      advice: expect.stringContaining('"ahs quarantine retry score"'),
    },
  ]);
  expect(judgeQuarantine([])).toMatchObject([{ level: "ok" }]);
});

test.each([
  [null, "fail"],
  [119, "ok"],
  [121, "fail"],
  [-121, "fail"],
])("an index whose newest block is %s s old is %s", (age, level) => {
  const now = new Date("2026-11-20T10:00:00Z");
  const head = age === null ? null : { blockNumber: 9, timestamp: now.getTime() / 1_000 - age };
  expect(judgeIndex(head, { now, maxAgeSeconds: 120 })).toMatchObject({ level });
});

test.each([
  [6e9, "ok"],
  [4e9, "warn"],
  [0.9e9, "fail"],
])("%d bytes free are %s", (freeBytes, level) => {
  expect(judgeDisk("/data", { freeBytes, totalBytes: 5e10 })).toMatchObject({
    level,
    detail: expect.stringMatching(/^\/data: .* of 50\.0 GB free$/),
  });
});

test.each([
  [160, "ok"],
  [161, "warn"],
])("%d of 200 connections are %s", (connections, level) => {
  expect(judgeUse({ bytes: 1e9, connections, maxConnections: 200 })).toMatchObject({ level });
});

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
