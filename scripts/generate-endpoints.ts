import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { priceText } from "../service/access/access.ts";
import { SCORING_INTERFACE } from "../service/api/create-app.ts";
import { VERIFICATION_INTERFACE } from "../service/api/create-verification-app.ts";
import { openApiDocument, operationsOf } from "../service/api/kit/openapi-document.ts";

/** Writes the table of priced endpoints into README.md; `--check` writes nothing and exits 1 when it would change. */

const file = join(import.meta.dirname, "../README.md");
const START = "<!-- endpoints: written by npm run generate -->\n";
const END = "<!-- end of endpoints -->";

const readme = readFileSync(file, "utf8");
const [before, rest] = readme.split(START);
const after = rest?.split(END)[1];
if (before === undefined || after === undefined) throw new Error("README.md has no place for the endpoints");
const wanted = `${before}${START}\n${table()}\n${END}${after}`;
if (wanted !== readme) {
  if (process.argv.includes("--check")) {
    process.stderr.write("the endpoints of README.md are out of date: npm run generate\n");
    process.exitCode = 1;
  } else writeFileSync(file, wanted);
}

function table(): string {
  const operations = [SCORING_INTERFACE, VERIFICATION_INTERFACE].flatMap((described) =>
    operationsOf(openApiDocument(described)),
  );
  const rows = operations.flatMap(({ method, path, operation, priceUnits }) =>
    priceUnits === null
      ? []
      : [`| \`${method} ${path}\` | ${priceText(priceUnits)} | ${operation.summary} |\n`],
  );
  return `| Endpoint | USD | Answers |\n|---|---|---|\n${rows.join("")}`;
}
