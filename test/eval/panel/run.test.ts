import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { CaseRow } from "../../../eval/panel/case-row.ts";
import { ownCases } from "../../../eval/panel/labelled-case.ts";
import { useFolder } from "../../support/use-folder.ts";

const SCRIPT = new URL("../../../eval/panel/run.ts", import.meta.url).pathname;

const SHIPPED = new URL("../../../eval/panel/recorded/scripted.jsonl", import.meta.url).pathname;

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
    expect(rows[0]).toMatchObject({ verdict: expect.any(String), requests: 5, error: null });
  });

  test("by batches it comes to the recorded verdicts", async () => {
    const [json, cases] = [join(folder, "batched.json"), join(folder, "batched-cases.json")];
    const three = ownCases().slice(0, 3);
    writeFileSync(cases, JSON.stringify(three));
    const { code, stdout, stderr } = await run(["--cases", cases, "--json", json, "--batch"]);
    expect(code).toBe(0);
    expect(stdout).toContain("Panel on scripted, 3 cases, by batches");
    const verdictOf = ({ id, verdict }: Pick<CaseRow, "id" | "verdict">) => [id, verdict];
    const recorded = readFileSync(SHIPPED, "utf8").trim().split("\n");
    expect(JSON.parse(readFileSync(json, "utf8")).rows.map(verdictOf)).toEqual(
      recorded
        .map((line) => verdictOf(JSON.parse(line)))
        .filter(([id]) => three.some((one) => one.id === id)),
    );
    // The generators of all cases are one batch; one case needs no critic.
    const sizes = [...stderr.matchAll(/batch batch_\S+: (\d+) questions/g)].map(([, size]) => size);
    expect(sizes).toEqual(["12", "2"]);
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

  test("a malformed set, an unknown option and a broken environment end with code 2 and a message", async () => {
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
    expect(await run(["--replay", cases, "--cases", cases])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--replay takes no --cases"),
    });
    const half = await run([], { PANEL_BASE_URL: "http://127.0.0.1:1/v1" });
    expect(half).toMatchObject({ code: 2, stderr: expect.stringContaining("needs PANEL_MODEL") });
  });
});

describe("npm run eval:panel -- --record and --replay", { timeout: TIMEOUT_MS }, () => {
  test("a replay decides as the run did, and the recording in the repository is that of this version", async () => {
    const [live, recorded, replayed] = ["live.json", "new.jsonl", "replayed.json"].map((name) =>
      join(folder, name),
    ) as [string, string, string];
    expect(await run(["--record", recorded, "--json", live])).toMatchObject({ code: 0 });
    const { code, stdout } = await run(["--replay", recorded, "--json", replayed]);
    expect(code).toBe(0);
    expect(stdout).toContain("which says nothing of any model");
    expect(stdout).toMatch(/false ALLOW +0\.\d{3} \(0\.\d{3}–0\.\d{3}\): \d+ of \d+ cases/);
    expect(stdout).toMatch(/effective votes +1\.\d{2} \(/);
    const results = JSON.parse(readFileSync(replayed, "utf8"));
    expect(results).toMatchObject({ seed: "1", left_out: 0, changed: 0, cases: ownCases().length });
    expect(results.rows.map(verdictOf)).toEqual(JSON.parse(readFileSync(live, "utf8")).rows.map(verdictOf));
    // If this fails, record it again: rm it, then npm run eval:panel -- --record eval/panel/recorded/scripted.jsonl
    expect(judgmentsIn(recorded)).toEqual(judgmentsIn(SHIPPED));
    expect(await run(["--record", recorded])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("EEXIST"),
    });
  });

  test("a bad line is named and left out, or ends a strict replay with code 2", async () => {
    const file = join(folder, "bad.jsonl");
    const [first] = readFileSync(SHIPPED, "utf8").split("\n");
    writeFileSync(file, `${first}\n${first?.replace("ALLOW", "MAYBE")}\n`);
    const lenient = await run(["--replay", file]);
    expect(lenient).toMatchObject({ code: 0, stdout: expect.stringContaining("Replay of 1 cases") });
    expect(lenient.stderr).toMatch(/bad\.jsonl:2: expected\.0: .*"ALLOW"/);
    expect(await run(["--replay", file, "--strict"])).toMatchObject({ code: 2, stdout: "" });
  });

  test("a fit reports the thresholds of the lowest cost on both halves, the same at each run", async () => {
    const json = join(folder, "fit.json");
    const [first, second] = [
      await run(["--replay", SHIPPED, "--fit", "--json", json]),
      await run(["--replay", SHIPPED, "--fit"]),
    ];
    expect(first).toMatchObject({ code: 0, stdout: second.stdout });
    expect(first.stdout).toContain("Cost of a case: false ALLOW 10, false REJECT 4, HOLD 1");
    expect(first.stdout).toContain("policy.ts is as it was.");
    const { fit } = JSON.parse(readFileSync(json, "utf8"));
    expect(fit.fitted.now.cases + fit.reported.now.cases).toBe(ownCases().length);
    for (const costs of ["4,10,1", "10,4", "10,4,x"]) {
      expect(await run(["--replay", SHIPPED, "--fit", "--costs", costs])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(`--costs is "${costs}", expected three numbers`),
      });
    }
  });

  test("pairwise judgments are imported, recorded and replayed at once", async () => {
    const [file, recorded] = [join(folder, "judge.json"), join(folder, "pairs.jsonl")];
    const both = { "swap = False": { winner: "1" }, "swap = True": { winner: "1" } };
    writeFileSync(
      file,
      JSON.stringify([{ input: "Name one.", output_1: "One.", output_2: "Two.", label: 1, results: [both] }]),
    );
    const judges = Array.from({ length: 4 }, () => ["--judgments", file]).flat();
    const imported = await run(["--import", "llmbar", ...judges, "--record", recorded]);
    expect(imported).toMatchObject({ code: 0, stdout: expect.stringContaining("import of llmbar") });
    const again = await run(["--replay", recorded]);
    expect(again.stdout).toBe(imported.stdout);
    expect(await run(["--import", "llm", ...judges])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--import is "llm", expected llmbar or judgebench'),
    });
  });
});

/** The part of a row that the tally decides. */
function verdictOf(row: CaseRow) {
  const { id, verdict, is_right, final_score, confidence, rules_fired } = row;
  return { id, verdict, is_right, final_score, confidence, rules_fired };
}

/** Lines of a recording without the prompts' hash, which changes with every word of a prompt. */
function judgmentsIn(file: string): unknown[] {
  const lines = readFileSync(file, "utf8").trim().split("\n");
  return lines.map((line) => ({ ...JSON.parse(line), prompt_hash: null }));
}

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
