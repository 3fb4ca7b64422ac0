import { expect, test } from "vitest";
import { maySucceed } from "../../../bin/indexer/take-over.ts";

const OLD = { startedAt: "2026-01-01T00:00:00.000Z" };
const NEW = { startedAt: "2026-02-01T00:00:00.000Z" };
const UNDATED = { startedAt: null };

test.each([
  {
    build: NEW,
    served: OLD,
    abandonedMs: 0,
    may: true,
    why: "a newer build takes over while the old one runs",
  },
  {
    build: OLD,
    served: NEW,
    abandonedMs: 0,
    may: false,
    why: "an old build that starts again takes nothing back",
  },
  {
    build: OLD,
    served: NEW,
    abandonedMs: 59_999,
    may: false,
    why: "a crash of the new build gives nothing back",
  },
  {
    build: OLD,
    served: NEW,
    abandonedMs: 60_000,
    may: true,
    why: "a new build that was stopped gives way to the old one",
  },
  { build: NEW, served: UNDATED, abandonedMs: 0, may: true, why: "a build without a date is older than any" },
  { build: UNDATED, served: NEW, abandonedMs: 0, may: false, why: "a build without a date succeeds none" },
])("$why", ({ build, served, abandonedMs, may }) => {
  expect(maySucceed(build, served, abandonedMs)).toBe(may);
});
