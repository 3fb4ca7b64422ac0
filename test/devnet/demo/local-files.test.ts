import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { claimDataDir, localFiles, removeDataDir, writeSecret } from "../../../devnet/demo/local-files.ts";
import { useFolder } from "../../support/use-folder.ts";

const folder = useFolder();

describe("removeDataDir", () => {
  test("removes what ahs made, and says when there is nothing", () => {
    const files = localFiles(join(folder, "data"));
    claimDataDir(files);
    writeSecret(files.demoKeyFile, "key");
    writeFileSync(files.logFile("chain"), "line\n");
    mkdirSync(files.postgresDir);
    expect(removeDataDir(files.dataDir)).toBe(true);
    expect(existsSync(files.dataDir)).toBe(false);
    expect(removeDataDir(files.dataDir)).toBe(false);
    expect(existsSync(files.dataDir)).toBe(false);
  });

  test("removes nothing from a folder that holds anything else", () => {
    const home = join(folder, "home");
    mkdirSync(join(home, "logs"), { recursive: true });
    writeFileSync(join(home, "thesis.txt"), "years of work");
    expect(() => removeDataDir(home)).toThrow("thesis.txt");
    expect([existsSync(join(home, "thesis.txt")), existsSync(join(home, "logs"))]).toEqual([true, true]);
  });
});
