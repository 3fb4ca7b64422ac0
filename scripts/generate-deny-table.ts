import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { denyTables } from "../eval/deny/deny-tables.ts";

/** Writes the tables of what it costs to deny into docs/security.md. `--check` writes nothing and exits 1 when they differ. */

const file = join(import.meta.dirname, "../docs/security.md");
const MARKERS = { start: "<!-- cost to deny: generated -->", end: "<!-- end of cost to deny -->" } as const;

const page = readFileSync(file, "utf8");
const [before, rest] = page.split(MARKERS.start);
const [, after] = rest?.split(MARKERS.end) ?? [];
if (before === undefined || after === undefined) throw new Error(`${file} has no place for the tables`);
const written = `${before}${MARKERS.start}\n\n${denyTables()}\n\n${MARKERS.end}${after}`;
if (written !== page) {
  if (process.argv.includes("--check")) {
    process.stderr.write("docs/security.md is out of date: npm run generate\n");
    process.exitCode = 1;
  } else writeFileSync(file, written);
}
