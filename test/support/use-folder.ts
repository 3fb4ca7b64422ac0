import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

/** A new folder of the system's temporary one for a test file, removed after its tests. */
export function useFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "ahs-test-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
