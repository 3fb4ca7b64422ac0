import { spawnSync } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

const root = new URL("../../", import.meta.url).pathname;

let project: string;
beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), "lint-"));
  await cp(join(root, "biome.json"), join(project, "biome.json"));
  await cp(join(root, "scripts"), join(project, "scripts"), { recursive: true });
});
afterAll(() => rm(project, { recursive: true }));

/** Which of the files, each of which has that text, the linter finds to decode without a bound. */
async function refused(paths: readonly string[], text: string): Promise<readonly string[]> {
  for (const path of paths) {
    await mkdir(dirname(join(project, path)), { recursive: true });
    await writeFile(join(project, path), text);
  }
  const args = ["lint", "--vcs-enabled=false", "--reporter=json", ...paths];
  const { stdout } = spawnSync(join(root, "node_modules/.bin/biome"), args, {
    cwd: project,
    encoding: "utf8",
  });
  const { diagnostics }: { diagnostics: { category: string; location: { path: string } }[] } =
    JSON.parse(stdout);
  return diagnostics.filter(({ category }) => category === "plugin").map(({ location }) => location.path);
}

const ELSEWHERE = [
  "bin/work/reader.ts",
  "service/chain/reader.ts",
  "service/enrich/reader.ts",
  "src/reader.ts",
];
const BOUNDED = "service/chain/bounded-abi.ts";

test.each([
  `import { decodeAbiParameters } from "viem";`,
  `import { type Hex, decodeErrorResult as read } from "viem/utils";`,
  `import * as viem from "viem";`,
])("refuses %s everywhere but in the bounded decoder", async (text) => {
  expect(await refused([...ELSEWHERE, BOUNDED], text)).toEqual(ELSEWHERE);
});

test("allows what else viem has", async () => {
  expect(await refused(ELSEWHERE, `import { encodeAbiParameters } from "viem";`)).toEqual([]);
});
