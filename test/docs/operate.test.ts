import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { documentedMetrics } from "../support/documented-metrics.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const DOCUMENT = readFileSync(`${ROOT}/docs/operate.md`, "utf8");

/** Names by which anything of ours registers a metric. */
function registeredMetrics(): ReadonlySet<string> {
  const files = globSync("{bin,service}/**/*.ts", { cwd: ROOT });
  const names = files.flatMap((file) => {
    const text = readFileSync(`${ROOT}/${file}`, "utf8");
    return text.includes("prom-client") ? (text.match(/(?<=")ahs_[a-z_]+(?=")/g) ?? []) : [];
  });
  return new Set(names);
}

test("every metric is in the table of docs/operate.md, and the table has no other", () => {
  expect([...documentedMetrics()].sort()).toEqual([...registeredMetrics()].sort());
});

test("every check of ahs doctor is in its table", () => {
  const checks = globSync("{bin/doctor/*,bin/commands/doctor,service/*/{,*-}checks}.ts", { cwd: ROOT })
    .map((file) => readFileSync(`${ROOT}/${file}`, "utf8"))
    .flatMap((text) => text.match(/(?<=\bname: "|\bcheck: ")[a-z ]+(?=")/g) ?? []);
  expect(new Set(checks).size).toBeGreaterThan(15);
  for (const check of checks) expect(DOCUMENT).toContain(`\n| ${check} |`);
});
