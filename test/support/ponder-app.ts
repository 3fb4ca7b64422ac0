import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Plugin } from "esbuild";

/** Modules that Ponder loads through Vite: its configuration, its schema and all files of `src/`. */
const APP = ["ponder.config.ts", "ponder.schema.ts"];
/** Its modules that bin/indexer imports by their paths. */
const PARTS = [
  "bin/commands/start.js",
  "database/index.js",
  "internal/logger.js",
  "internal/metrics.js",
  "internal/shutdown.js",
];

/** Entries of a bundle that Ponder's own modules become part of. */
export const PONDER_ENTRIES = PARTS.map((path) => `node_modules/ponder/dist/esm/${path}`);

/**
 * Has Ponder find its app in the bundle. Its server of Vite, which transforms each file at every start, and its database in
 * WebAssembly, which is not used, take half of the CPU time of a start.
 */
export function ponderApp(root: string): Plugin {
  const src = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" });
  const files = [...APP, ...src.filter((path) => path.endsWith(".ts")).map((path) => `src/${path}`)];
  const modules: Readonly<Record<string, string>> = {
    vite: loaderOf(files.map((path) => join(root, path))),
    pglite: `export class PGlite {}
export const types = {};`,
    "ponder:registry": `export const ponder = { fns: [], on(name, fn) { this.fns.push({ name, fn }); } };`,
    "ponder:schema": `export * from ${JSON.stringify(join(root, "ponder.schema.ts"))};`,
  };
  const namespace = "ponder-app";
  const found = (path: string) => () => ({ path, namespace });
  return {
    name: namespace,
    setup: (bundle) => {
      bundle.onResolve({ filter: /^(vite|vite-node\/.*|vite-tsconfig-paths)$/ }, found("vite"));
      bundle.onResolve({ filter: /^@electric-sql\/pglite$/ }, found("pglite"));
      bundle.onResolve({ filter: /^ponder:/ }, ({ path }) => ({ path, namespace }));
      bundle.onLoad({ filter: /.*/, namespace }, ({ path }) => ({
        contents: modules[path] ?? "",
        resolveDir: root,
      }));
    },
  };
}

/** A module in the place of Vite and vite-node, with those of their parts that Ponder calls. */
function loaderOf(files: readonly string[]): string {
  const imports = files.map((file) => `${JSON.stringify(file)}: () => import(${JSON.stringify(file)}),`);
  return `const files = { ${imports.join("\n")} "ponder:registry": () => import("ponder:registry") };
const nothing = async () => undefined;
export const createServer = async () => ({ config: {}, pluginContainer: { buildStart: nothing }, close: nothing });
export class ViteNodeServer {}
export class ViteNodeRunner {
  executeFile(file) { return files[file](); }
  executeId(id) { return files[id](); }
}
export const installSourcemapsSupport = () => undefined;
export const normalizeModuleId = (id) => id;
export const toFilePath = (path) => ({ path });
export default () => ({});
`;
}
