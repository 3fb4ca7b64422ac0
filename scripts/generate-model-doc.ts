import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { drawCurve } from "../eval/model-doc/curve-picture.ts";
import { evaluationSections } from "../eval/model-doc/evaluation-sections.ts";
import { modelSections } from "../eval/model-doc/model-sections.ts";
import { picturesOf } from "../eval/model-doc/pictures.ts";
import type { Results } from "../eval/results.ts";
import { AHS_2026_2 as policy } from "../service/model/score/policy.ts";
import { policyFile } from "../service/scores/inputs-hash.ts";

/**
 * Writes docs/model.md and the curves beside it from the policy, eval/results.json and eval/labelled/results.md. `--check` writes nothing and
 * exits 1 when a file differs from what it would write. Both do so as well when the results are of another policy.
 */

const root = join(import.meta.dirname, "..");
const results: Results = JSON.parse(readFileSync(join(root, "eval/results.json"), "utf8"));
const { hash } = policyFile(policy);
if (results.policy_hash !== hash) {
  process.stderr.write(
    `eval/results.json is of policy ${results.policy_hash}, the policy is ${hash}: npm run eval -- --json eval/results.json\n`,
  );
  process.exitCode = 1;
} else reconcile(expectedFiles());

function expectedFiles(): ReadonlyMap<string, string> {
  const pictures = picturesOf(policy);
  const curves = [...pictures.values()]
    .flat()
    .map((picture) => [`docs/curves/${picture.file}.svg`, drawCurve(picture)] as const);
  const labelled = readFileSync(join(root, "eval/labelled/results.md"), "utf8").trimEnd();
  const sections = [...modelSections(policy, { hash, pictures }), ...evaluationSections(results), labelled];
  return new Map([["docs/model.md", `${sections.join("\n\n")}\n`], ...curves]);
}

function reconcile(files: ReadonlyMap<string, string>): void {
  const check = process.argv.includes("--check");
  for (const [path, content] of files) {
    const file = join(root, path);
    if (existsSync(file) && readFileSync(file, "utf8") === content) continue;
    if (check) complain(`${path} is out of date`);
    else {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, content);
    }
  }
  for (const path of drawnCurves().filter((drawn) => !files.has(drawn))) {
    if (check) complain(`${path} is of no curve`);
    else rmSync(join(root, path));
  }
}

function drawnCurves(): readonly string[] {
  const folder = join(root, "docs/curves");
  return existsSync(folder) ? readdirSync(folder).map((name) => `docs/curves/${name}`) : [];
}

function complain(fault: string): void {
  process.stderr.write(`${fault}: npm run generate\n`);
  process.exitCode = 1;
}
