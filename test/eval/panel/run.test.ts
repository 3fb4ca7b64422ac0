import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ownCases } from "../../../eval/panel/labelled-case.ts";
import { useFolder } from "../../support/use-folder.ts";

const SCRIPT = new URL("../../../eval/panel/run.ts", import.meta.url).pathname;

const folder = useFolder();

/** A process of its own, on a machine that may have other work. */
const TIMEOUT_MS = 120_000;

describe("npm run eval:panel", { timeout: TIMEOUT_MS }, () => {
  test("without a model it checks the harness, says so, and writes a row for each case", async () => {
    const [json, cases] = [join(folder, "rows.json"), join(folder, "three.json")];
    const three = ownCases().slice(0, 3);
    writeFileSync(cases, JSON.stringify(three));
    const { code, stdout } = await run(["--cases", cases, "--json", json]);
    expect(code).toBe(0);
    expect(stdout).toContain("Panel on scripted");
    expect(stdout).toContain("says nothing of any model");
    expect(stdout).toMatch(/false ALLOW +0\.\d{3}/);
    expect(stdout).toMatch(/latency +p50 \d+ ms, p95 \d+ ms/);
    const { is_scripted, rows } = JSON.parse(readFileSync(json, "utf8"));
    expect(is_scripted).toBe(true);
    expect(rows.map(({ id }: { id: string }) => id)).toEqual(three.map(({ id }) => id));
    expect(rows[0]).toMatchObject({ verdict: expect.any(String), requests: 6, error: null });
  });

  test("another set is run in its place, and one without room ends with code 1 and the reason", async () => {
    const cases = join(folder, "cases.json");
    const good = {
      id: "good",
      domain: "content",
      spec_text: "Name the colour of bananas.",
      output_text: "Bananas have the colour yellow.",
      expected: ["ALLOW"],
    };
    writeFileSync(cases, JSON.stringify([good, { ...good, id: "long", output_text: "界".repeat(199_999) }]));
    const { code, stdout } = await run(["--cases", cases]);
    expect(code).toBe(1);
    expect(stdout).toContain("1 of 2 cases");
    expect(stdout).toContain("too long");
  });

  test("a set that is none, an unknown option and a broken environment end with code 2 and words", async () => {
    const cases = join(folder, "broken.json");
    writeFileSync(cases, "[{}]");
    expect(await run(["--cases", cases])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("no list of cases"),
    });
    expect(await run(["--case", cases])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("Usage:"),
    });
    const half = await run([], { PANEL_BASE_URL: "http://127.0.0.1:1/v1" });
    expect(half).toMatchObject({ code: 2, stderr: expect.stringContaining("needs PANEL_MODEL") });
  });
});

function run(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    const child = execFile(
      process.execPath,
      [SCRIPT, ...args],
      { env: { PATH: process.env.PATH, ...env } },
      (_, stdout, stderr) => resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    );
  });
}
