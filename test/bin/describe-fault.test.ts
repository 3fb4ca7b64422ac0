import { resolve } from "node:path";
import { expect, test } from "vitest";
import { describeFault } from "../../bin/describe-fault.ts";

const failure = (facts: Record<string, unknown>) => Object.assign(new Error("raw"), facts);

test.each([
  [
    { code: "ENOENT", path: resolve("lost.json") },
    ["--deployment", "lost.json"],
    `no such file: ${resolve("lost.json")} (--deployment)`,
  ],
  [{ code: "ENOENT", path: "/lost" }, ["--policy=/lost"], "no such file: /lost (--policy)"],
  [{ code: "ENOENT", path: "/lost" }, ["import", "/lost"], "no such file: /lost"],
  [{ code: "EACCES", path: "/kept" }, [], "no permission for /kept (AHS_DEPLOYMENT or --deployment)"],
  [
    { code: "ECONNREFUSED", address: "::1", port: 5432 },
    [],
    "nothing accepts connections at ::1:5432 (DATABASE_URL or --database-url)",
  ],
  [{ code: "ECONNREFUSED", address: "::1", port: 1 }, [], "nothing accepts connections at ::1:1"],
  [
    { code: "EADDRINUSE", address: "127.0.0.1", port: 42_069 },
    [],
    "port 42069 of 127.0.0.1 is taken (INDEX_PORT): stop what listens there, or set another",
  ],
  [
    { code: "EADDRINUSE", address: "::", port: 9_464 },
    [],
    "port 9464 of :: is taken (METRICS_PORT): stop what listens there, or set another",
  ],
  [{}, [], "raw"],
] as const)("describes %o of a command with %o", (facts, argv, expected) => {
  const env = {
    DATABASE_URL: "postgres://x@localhost:5432/ahs",
    AHS_DEPLOYMENT: "/kept",
    METRICS_PORT: "9464",
  };
  expect(describeFault(failure(facts), { argv, env })).toBe(expected);
});
