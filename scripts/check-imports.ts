import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import ts from "typescript";

/**
 * Fails when a room of service/ imports one that it may not, when src/ or devnet/ import more of service/ than chain, when
 * service/ imports a program, when files of any folder import each other in a circle, and when the table of rooms in
 * ARCHITECTURE.md differs from MAY_IMPORT. devnet/demo runs the whole service on this machine, and may import what bin/ may.
 * Type imports count.
 */

/** Type of the checks of `ahs doctor`: for all rooms, and importing none. */
const CHECK = "check.ts";

/** Rooms of service/, and the rooms that each may import: only rooms above it in this list. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  net: [],
  model: [],
  chain: ["net"],
  db: ["model"],
  sender: ["db", "chain"],
  sanctions: ["db", "chain", "model"],
  ingest: ["db", "net", "chain", "model"],
  access: ["db", "net", "chain", "sender"],
  alerts: ["db", "net", "model", "access"],
  oracle: ["db", "net", "chain", "model", "sender", "sanctions"],
  scores: ["db", "net", "chain", "model", "sanctions", "ingest", "alerts", "oracle"],
  registries: ["db", "net", "chain", "model", "ingest", "alerts"],
  reports: ["db", "net", "chain", "model", "sender", "sanctions", "ingest", "scores", "registries"],
  verification: ["db", "net", "chain", "sender", "access", "alerts"],
  api: [
    ...["db", "net", "chain", "model", "sanctions", "access", "alerts", "oracle", "scores", "registries"],
    ...["reports", "verification"],
  ],
};

/** Folders whose files import no tests. The programs of others may use the kits of test/. */
const WITHOUT_TESTS: ReadonlySet<string> = new Set(["service", "bin", "src", "devnet", "client", "examples"]);
/** Folders whose files import only the room chain of service/. */
const OF_THE_CHAIN: ReadonlySet<string> = new Set(["src", "devnet"]);

const ROOT = new URL("..", import.meta.url).pathname;

const faults: string[] = [];
const imports = readImports();
for (const [file, targets] of imports) {
  for (const target of targets) {
    const fault = faultOf(file, target);
    if (fault !== null) faults.push(`${file} imports ${target}: ${fault}`);
  }
}
for (const circle of circlesOf(imports)) faults.push(`these import each other: ${circle.join(", ")}`);
faults.push(...tableFaults());
if (faults.length > 0) {
  process.stderr.write(`${faults.join("\n")}\n`);
  process.exitCode = 1;
}

/** Rooms whose last cell in the table of ARCHITECTURE.md is not their list. */
function tableFaults(): string[] {
  const rows = readFileSync(join(ROOT, "ARCHITECTURE.md"), "utf8").split("\n");
  return Object.entries(MAY_IMPORT).flatMap(([room, allowed]) => {
    const expected = allowed.join(", ") || "none";
    const given = rows
      .find((row) => row.startsWith(`| \`${room}\` |`))
      ?.split("|")
      .at(-2)
      ?.trim();
    return given === expected
      ? []
      : [`ARCHITECTURE.md: expected ${room} to import ${expected}, got ${given}`];
  });
}

function readImports(): ReadonlyMap<string, readonly string[]> {
  const files = globSync("**/*.ts", { cwd: ROOT, exclude: (name) => name === "node_modules" });
  const known = new Set(files);
  return new Map(
    files.map((file) => {
      const { importedFiles } = ts.preProcessFile(readFileSync(join(ROOT, file), "utf8"));
      const targets = importedFiles
        .filter(({ fileName }) => fileName.startsWith("."))
        .map(({ fileName }) => relative(ROOT, join(ROOT, dirname(file), fileName)));
      return [file, targets.filter((target) => known.has(target))];
    }),
  );
}

function faultOf(file: string, target: string): string | null {
  const [from, to] = [placeOf(file), placeOf(target)];
  if (to.top === "test" && WITHOUT_TESTS.has(from.top)) return `${from.top}/ imports no tests`;
  if (from.top === "service" && to.top !== "service") return "service/ imports no program";
  if (OF_THE_CHAIN.has(from.top) && from.room !== "demo" && to.top === "service" && to.room !== "chain") {
    return `${from.top}/ imports only chain of service/`;
  }
  if (from.top !== "service" || to.top !== "service" || from.room === to.room || to.room === CHECK)
    return null;
  const allowed = MAY_IMPORT[from.room];
  if (allowed === undefined) return `expected a room of ${Object.keys(MAY_IMPORT).join(", ")}`;
  return allowed.includes(to.room) ? null : `${from.room} may import ${allowed.join(", ") || "no room"}`;
}

function placeOf(file: string): { readonly top: string; readonly room: string } {
  const [top = "", room = ""] = file.split("/");
  return { top, room };
}

/** Strongly connected components of more than one file (Tarjan). */
function circlesOf(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const circles: string[][] = [];
  const order = new Map<string, number>();
  const open: string[] = [];
  const visit = (file: string): number => {
    const own = order.size;
    order.set(file, own);
    open.push(file);
    let low = own;
    for (const target of graph.get(file) ?? []) {
      if (!order.has(target)) low = Math.min(low, visit(target));
      else if (open.includes(target)) low = Math.min(low, order.get(target) ?? low);
    }
    if (low === own) {
      const circle = open.splice(open.indexOf(file));
      if (circle.length > 1) circles.push(circle.sort());
    }
    return low;
  };
  for (const file of graph.keys()) if (!order.has(file)) visit(file);
  return circles;
}
