import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startHost } from "../../../bin/supervisor/child-process.ts";

test("a process that ends before it is ready is reported with its own last lines, not those of an earlier one", async () => {
  const folder = mkdtempSync(join(tmpdir(), "ahs-host-"));
  const script = join(folder, "fails.mjs");
  const logFile = join(folder, "fails.log");
  writeFileSync(script, 'console.error("no room left"); process.exit(3);\n');
  writeFileSync(logFile, "an old fault\n");
  const { ready } = startHost({ name: "chain", script, args: [], env: {}, logFile });
  await expect(ready).rejects.toThrow("chain ended with 3 before it was ready\nno room left");
  rmSync(folder, { recursive: true });
});
