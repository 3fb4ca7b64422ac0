import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";

/** Runs every generator of this folder, with whatever arguments it is given itself; fails when one of them does. */
const folder = new URL(".", import.meta.url).pathname;
const generators = readdirSync(folder).filter((name) => name.startsWith("generate-"));
for (const name of generators.sort()) {
  const { status } = spawnSync(process.execPath, [join(folder, name), ...process.argv.slice(2)], {
    stdio: "inherit",
  });
  if (status !== 0) process.exitCode = 1;
}
