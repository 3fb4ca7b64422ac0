import { expect, test } from "vitest";
import {
  judgeClock,
  judgeMigrations,
  judgeQuarantine,
  judgeQueue,
  judgeRoles,
  judgeVersion,
} from "../../../bin/doctor/judge-service.ts";
import type { RoleFacts } from "../../../service/db/operation-facts.ts";
import { ROLES } from "../../../service/db/role-rights.ts";

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
