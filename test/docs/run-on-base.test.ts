import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { useFolder } from "../support/use-folder.ts";

const PAGE = readFileSync(new URL("../../docs/run-on-base.md", import.meta.url), "utf8");
/** Substitutes for the programs that make keystores and containers. The substitute copies the password in place of the keystore. */
const STAND_INS = 'umask 022; npm() { cp "$9" "$7"; }; podman() { :; }';

const folder = useFolder();
beforeAll(() => {
  mkdirSync(join(folder, "ops/prometheus"), { recursive: true });
  const files = ["env.example", "compose.env.example", "prometheus/alertmanager.example.yml"];
  for (const file of ["deployment.json", ...files.map((name) => `ops/${name}`)])
    writeFileSync(join(folder, file), "", { mode: 0o644 });
});

/** The first commands behind a heading. */
function commandsOf(heading: string): string {
  const [, rest = ""] = PAGE.split(`\n${heading}\n`);
  const [, commands] = /```sh\n([\s\S]*?)```/.exec(rest) ?? [];
  return commands ?? expect.unreachable(`no commands behind ${heading}`);
}

const modeOf = (file: string) => (statSync(join(folder, file)).mode & 0o777).toString(8);

test("the commands for keys and containers make files that only their readers may read", () => {
  const script = [STAND_INS, commandsOf("## 2. Keys"), "umask", commandsOf("### With containers")].join("\n");
  const { status, stdout, stderr } = spawnSync("bash", ["-ec", script], { cwd: folder, encoding: "utf8" });
  expect([status, stderr, stdout]).toEqual([0, "", "0022\n"]);

  const passwords = readdirSync(join(folder, "keys")).filter((name) => name.endsWith("-password"));
  expect(passwords).toHaveLength(5);
  expect(new Set(passwords.map((name) => readFileSync(join(folder, "keys", name), "utf8"))).size).toBe(5);
  for (const name of readdirSync(join(folder, "keys"))) expect(modeOf(`keys/${name}`)).toBe("600");

  expect(modeOf("ops/deployment.json")).toBe("644");
  expect(modeOf("ops/secrets")).toBe("700");
  const mounted = readdirSync(join(folder, "ops/secrets"));
  expect(mounted).toEqual(["publisher-password", "publisher.json", "signer-password", "signer.json"]);
  for (const name of mounted) expect(modeOf(`ops/secrets/${name}`)).toBe("644");
});
