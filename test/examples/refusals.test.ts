import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { freePort } from "../../bin/supervisor/child-process.ts";

const VERDICT_ID = "0f8a1c1e-7c1d-4d57-8c27-2b1f0d3f5a90";

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "ahs-example-"));
});
afterEach(() => rmSync(dataDir, { recursive: true }));

function compare(...args: readonly string[]) {
  const file = new URL("../../examples/check-reason.ts", import.meta.url).pathname;
  const { status, stderr } = spawnSync(process.execPath, [file, VERDICT_ID, ...args, "--data-dir", dataDir], {
    encoding: "utf8",
  });
  return { status, stderr };
}

test("an example reports a service that went away by its URL and the reason", async () => {
  const nobody = `http://127.0.0.1:${await freePort()}`;
  writeFileSync(join(dataDir, "up.json"), JSON.stringify({ rpc_url: nobody, verify_base_url: nobody }));
  expect(compare()).toEqual({
    status: 1,
    stderr: `${nobody}/v1/verdicts/${VERDICT_ID}/evidence does not answer: ECONNREFUSED. Is the service up?\n`,
  });
});

test("an example refuses a block that is no number in a sentence", () => {
  const { status, stderr } = compare("--from-block", "x");
  expect([status, stderr]).toEqual([1, "--from-block is the number of a block, not x.\n"]);
});
