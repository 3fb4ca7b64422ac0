import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import openapiTypescript, { astToString, type OpenAPI3 } from "openapi-typescript";
import { SCORING_ENDPOINTS } from "../service/api/create-app.ts";
import { openApiDocument } from "../service/api/openapi-document.ts";

/** Writes the types of the interface that the client speaks; `--check` writes nothing and exits 1 when they would change. */

const file = join(import.meta.dirname, "../client/src/schema.ts");
const HEADER = "// Written by npm run generate from the OpenAPI document of the scoring interface.\n\n";

// Two libraries describe OpenAPI 3.1 by types of their own; the document itself is plain JSON.
const document: OpenAPI3 = JSON.parse(JSON.stringify(openApiDocument(SCORING_ENDPOINTS)));
const wanted = HEADER + astToString(await openapiTypescript(document, { alphabetize: true }));
if (!existsSync(file) || readFileSync(file, "utf8") !== wanted) {
  if (process.argv.includes("--check")) {
    process.stderr.write("client/src/schema.ts is out of date: npm run generate\n");
    process.exitCode = 1;
  } else writeFileSync(file, wanted);
}
