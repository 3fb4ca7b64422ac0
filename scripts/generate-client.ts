import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import openapiTypescript, { astToString, type OpenAPI3 } from "openapi-typescript";
import { SCORING_INTERFACE } from "../service/api/create-app.ts";
import { VERIFICATION_INTERFACE } from "../service/api/create-verification-app.ts";
import { openApiDocument } from "../service/api/kit/openapi-document.ts";

/** Writes the types of the interfaces that the client speaks; `--check` writes nothing and exits 1 when they would change. */

const folder = join(import.meta.dirname, "../client/src");
const INTERFACES = { "schema.ts": SCORING_INTERFACE, "verification-schema.ts": VERIFICATION_INTERFACE };

for (const [name, described] of Object.entries(INTERFACES)) {
  const file = join(folder, name);
  // Two libraries describe OpenAPI 3.1 by types of their own; the document itself is plain JSON.
  const document: OpenAPI3 = JSON.parse(JSON.stringify(openApiDocument(described)));
  const header = `// Written by npm run generate from the OpenAPI document of ${described.title}.\n\n`;
  const wanted =
    header + astToString(await openapiTypescript(document, { alphabetize: true, defaultNonNullable: false }));
  if (existsSync(file) && readFileSync(file, "utf8") === wanted) continue;
  if (process.argv.includes("--check")) {
    process.stderr.write(`client/src/${name} is out of date: npm run generate\n`);
    process.exitCode = 1;
  } else writeFileSync(file, wanted);
}
