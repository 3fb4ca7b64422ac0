import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";

/** Most files that an endpoint depends on, itself and type imports included. */
const MOST_FILES = 80;
/** Endpoints that depend on more, and their own bounds: they join decisions of several rooms. */
const WIDER: Readonly<Record<string, number>> = {
  "routes/get-agent-protect.ts": 138,
  "routes/get-ahs-agent.ts": 84,
  "routes/get-alerts-subscribe.ts": 84,
  "routes/get-counterparties.ts": 105,
  "routes/get-health.ts": 93,
  "routes/get-network-map.ts": 111,
  "routes/get-optimize.ts": 91,
  "routes/get-owner-cluster.ts": 93,
  "routes/get-report-card.ts": 94,
  "routes/get-retry.ts": 110,
  "routes/get-risk-premium.ts": 92,
  "routes/post-wash.ts": 95,
  "verification/post-appeal.ts": 101,
  "verification/post-outputs.ts": 88,
  "verification/post-specs.ts": 94,
  "verification/verdict-evidence.ts": 83,
};

const API = join(import.meta.dirname, "../../../service/api");
const IS_ENDPOINT = /\bdefine(?:Free|Paid|Sale|Score)</;
const endpoints = globSync("{routes,verification}/*.ts", { cwd: API }).filter((file) =>
  IS_ENDPOINT.test(readFileSync(join(API, file), "utf8")),
);

const importsOf = new Map<string, readonly string[]>();

function readImports(file: string): readonly string[] {
  const known = importsOf.get(file);
  if (known !== undefined) return known;
  const { importedFiles } = ts.preProcessFile(readFileSync(file, "utf8"));
  const paths = importedFiles.map(({ fileName }) => fileName).filter((name) => name.startsWith("."));
  const files = paths.map((path) => join(dirname(file), path));
  importsOf.set(file, files);
  return files;
}

/** The file and all that it imports, directly or not. */
function dependenciesOf(file: string): ReadonlySet<string> {
  const found = new Set([file]);
  for (const one of found) for (const target of readImports(one)) found.add(target);
  return found;
}

test("the list of endpoints is complete", () => {
  expect(endpoints.length).toBeGreaterThan(45);
  expect(Object.keys(WIDER).filter((file) => !endpoints.includes(file))).toEqual([]);
});

test.each(endpoints)("%s depends on few files", (file) => {
  const files = dependenciesOf(join(API, file));
  expect(files.size).toBeLessThanOrEqual(WIDER[file] ?? MOST_FILES);
  expect([...files].filter((one) => one.endsWith("api/services.ts"))).toEqual([]);
});
