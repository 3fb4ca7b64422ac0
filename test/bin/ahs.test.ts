import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePort } from "../../bin/up/free-port.ts";
import { runScript } from "../support/anvil-testkit/script.ts";

/** Nothing listens there. */
const NOBODY = "127.0.0.1:1";

let folder: string;
let runs = 0;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "ahs-line-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function ahs(...args: readonly string[]) {
  runs += 1;
  const script = runScript(args, { AHS_DATA_DIR: join(folder, "data") }, join(folder, `${runs}.log`));
  return { code: await script.exited, log: script.log() };
}

describe("ahs", () => {
  test.each([["--help"], ["help"], ["up", "--help"]])("%s %s shows the usage", async (...args) => {
    expect(await ahs(...args)).toMatchObject({ code: 0, log: expect.stringContaining("Usage: npm run ahs") });
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

  test("up tells of a database that does not answer before it builds a chain", async () => {
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
