import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { loadDeployment } from "../../service/chain/deployments.ts";

/** What decides the rows of the index, beside the deployment: a change in any of it is another index. */
const INDEX_SOURCES = [
  "ponder.config.ts",
  "ponder.schema.ts",
  "src",
  "service/chain/abi",
  "service/chain/escrow-events.ts",
  "service/chain/oracle-codec.ts",
  "service/db/index-columns.ts",
];

/** Name of the schema that one build of the index writes: `index_31337_1a2b3c4d5e6f`. */
export function indexSchemaName(root: string, chainId: number, deploymentFile: string): string {
  const hash = createHash("sha256");
  for (const source of INDEX_SOURCES) {
    for (const file of filesUnder(root, source))
      hash
        .update(file)
        .update("\0")
        .update(readFileSync(join(root, file)));
  }
  hash.update(indexedDeployment(deploymentFile));
  return `index_${chainId}_${hash.digest("hex").slice(0, 12)}`;
}

/** Only what the index reads: a further registry, one for feedback, an escrow's upgraded code or another sample is no other index. */
function indexedDeployment(deploymentFile: string): string {
  const deployment = loadDeployment(deploymentFile);
  const { reputationRegistry: _, validationRegistry: ___, ...rest } = deployment;
  const escrows = deployment.escrows.map(({ codeHash: _, implementation: __, ...indexed }) => indexed);
  return JSON.stringify({ ...rest, registries: [], escrows, sample: undefined });
}

function filesUnder(root: string, path: string): string[] {
  if (path.endsWith(".ts")) return [path];
  return readdirSync(join(root, path), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => join(path, name))
    .sort();
}
