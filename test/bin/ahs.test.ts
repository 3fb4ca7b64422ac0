import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { freePort } from "../../bin/supervisor/child-process.ts";
import { runScript } from "../support/anvil-testkit/script.ts";
import { until } from "../support/until.ts";
import { useFolder } from "../support/use-folder.ts";

/** Nothing listens there. */
const NOBODY = "127.0.0.1:1";

const folder = useFolder();
let runs = 0;

async function ahs(...args: readonly string[]) {
  runs += 1;
  const script = runScript(args, { AHS_DATA_DIR: join(folder, "data") }, join(folder, `${runs}.log`));
  return { code: await script.exited, log: script.log() };
}

describe("ahs", () => {
  test.each([["--help"], ["help"], ["nonsense", "--help"]])("%s %s shows the usage", async (...args) => {
    expect(await ahs(...args)).toMatchObject({ code: 0, log: expect.stringContaining("Usage: npm run ahs") });
  });

  test.each([
    ["help", "keys"],
    ["keys", "create", "-h"],
    ["reset", "--help"],
    ["serve", "--help"],
  ])("%s %s shows how that command is used", async (...args) => {
    const { code, log } = await ahs(...args);
    expect([code, log]).toEqual([
      0,
      expect.stringMatching(/^ahs (\w+): .+\n\nUsage: ahs \1[\s\S]*--database-url URL/),
    ]);
  });

  test("an unknown command is named beside those that exist", async () => {
    const { code, log } = await ahs("upp");
    expect([code, log]).toEqual([2, expect.stringMatching(/unknown command "upp"[\s\S]*reset/)]);
  });

  test.each(["up", "devnet", "index", "serve", "work", "migrate", "reset"])(
    "%s refuses an option that it does not have, and leaves nothing behind",
    async (command) => {
      const { code, log } = await ahs(command, "--prot", "4020");
      expect([code, log]).toEqual([1, expect.stringContaining("Unknown option '--prot'")]);
      expect(existsSync(join(folder, "data"))).toBe(false);
    },
  );

  test("up reports a database that does not answer before it builds a chain", async () => {
    const database = `postgres://${NOBODY}/ahs`;
    const { code, log } = await ahs("up", "--port", String(await freePort()), "--database-url", database);
    expect([code, log]).toEqual([1, expect.stringContaining("the database cannot be used: ")]);
    expect(existsSync(join(folder, "data", "chain"))).toBe(false);
    rmSync(join(folder, "data"), { recursive: true });
  });

  test("devnet names the node that does not answer", async () => {
    const { code, log } = await ahs("devnet", "--rpc-url", `http://${NOBODY}`);
    expect([code, log]).toEqual([1, expect.stringContaining(`no node answers JSON-RPC at http://${NOBODY}`)]);
    rmSync(join(folder, "data"), { recursive: true });
  });

  test("reset keeps a folder that ahs did not make", async () => {
    const precious = join(folder, "precious", "photos");
    mkdirSync(precious, { recursive: true });
    const { code, log } = await ahs("reset", "--data-dir", join(folder, "precious"));
    expect([code, log]).toEqual([1, expect.stringContaining("photos")]);
    expect(existsSync(precious)).toBe(true);
  });
});

describe("an uncaught error", () => {
  const NODE = "https://node.example/v2/aLcHeMyKeY_0123456789abcdef";
  /** Environment of a process that runs this code at its start; the code may raise the error later, on a signal. */
  const faulty = (code: string) => {
    const file = join(folder, "fault.mjs");
    writeFileSync(file, code);
    return { NODE_OPTIONS: `--import ${file}`, AHS_DATA_DIR: join(folder, "data") };
  };

  test("is reported without the secrets in it", async () => {
    const env = faulty(
      `Promise.resolve().then(() => setImmediate(() => Promise.reject("no answer of ${NODE}")));`,
    );
    const script = runScript(["help"], env, join(folder, "help.log"));
    expect([await script.exited, script.log()]).toEqual([
      1,
      expect.stringContaining("ahs: no answer of https://node.example/v2/[Redacted]\n"),
    ]);
    expect(script.log()).not.toContain("aLcHeMyKeY");
  });

  test("of a process that writes a log is the last line of that", async () => {
    const env = {
      ...faulty(`process.on("SIGUSR2", () => { throw new Error("no answer of ${NODE}"); });`),
      DATABASE_URL: `postgres://${NOBODY}/ahs`,
      RPC_URL: NODE,
      AHS_DEPLOYMENT: join(folder, "deployment.json"),
    };
    const script = runScript(["index"], env, join(folder, "index.log"));
    await until({ what: "it waits for its database" }, async () =>
      script.log().includes("trying again") ? true : null,
    );
    process.kill(script.pid, "SIGUSR2");
    expect(await script.exited).toBe(1);
    const last = script.log().trimEnd().split("\n").at(-1) ?? "";
    expect(JSON.parse(last)).toMatchObject({
      level: 60,
      name: "ahs-index",
      err: { message: "no answer of https://node.example/v2/[Redacted]" },
    });
    expect(script.log()).not.toContain("aLcHeMyKeY");
  });
});
