import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";

/** Most files that an endpoint depends on, itself and type imports included. */
const MOST_FILES = 80;
/** Endpoints that depend on more, and their own bounds: they join decisions of several rooms. */
const WIDER: Readonly<Record<string, number>> = {
  "routes/get-agent-protect.ts": 145,
  "routes/get-alerts-subscribe.ts": 85,
  "routes/get-counterparties.ts": 110,
  "routes/get-health.ts": 95,
  "routes/get-network-map.ts": 115,
  "routes/get-optimize.ts": 95,
  "routes/get-owner-cluster.ts": 95,
  "routes/get-report-card.ts": 100,
  "routes/get-retry.ts": 115,
  "routes/get-risk-premium.ts": 95,
  "routes/post-wash.ts": 95,
  "verification/post-appeal.ts": 105,
  "verification/post-outputs.ts": 95,
  "verification/post-retry.ts": 85,
  "verification/post-review.ts": 90,
  "verification/post-specs.ts": 100,
  "verification/verdict-evidence.ts": 90,
};

const API = join(import.meta.dirname, "../../../service/api");
const IS_ENDPOINT = /\bdefine(?:Free|Paid|Sale|Score)</;
const endpoints = globSync("{routes,verification}/*.ts", { cwd: API }).filter((file) =>
  IS_ENDPOINT.test(readFileSync(join(API, file), "utf8")),
);

/** The list of payment schemes counts as one file: the description of a 402 reads the protocol's words for them from it. */
const SCHEMES = join(API, "../access/schemes/schemes.ts");
const importsOf = new Map<string, readonly string[]>([[SCHEMES, []]]);

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
