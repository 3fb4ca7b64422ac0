import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { chromium } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fakeApp, KEY, WALLET_EIP55 } from "../service/api/fake-ports.ts";
import { CHROMIUM } from "../support/chromium.ts";

const run = promisify(execFile);
const clientFolder = join(import.meta.dirname, "../../client");

let project: string;
let server: Server;
let baseUrl: string;

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), "ahs-client-"));
  await run("npm", ["pack", "--pack-destination", project], { cwd: clientFolder });
  await writeFile(join(project, "package.json"), '{ "private": true, "type": "module" }');
  const packed = "./agent-health-client-0.1.0.tgz";
  await run("npm", ["install", "--offline", "--no-audit", "--no-fund", packed], { cwd: project });
  ({ server, baseUrl } = await serveApp());
});

afterAll(async () => {
  server.close();
  await rm(project, { recursive: true });
});

/** Asks the interface at another origin than its own. */
const PAGE = `<!doctype html><title>shop</title><script type="module">
  import { AgentHealth } from "/client/agent-health.js";
  const health = new AgentHealth("${KEY}", { baseUrl: "%origin%" });
  const { action, score } = await health.route("${WALLET_EIP55}");
  window.decision = { action, score };
</script>`;

/** The interface, and beside it a page whose origin is the service's own and the files of the installed client. */
async function serveApp(): Promise<{ server: Server; baseUrl: string }> {
  const app = new Hono();
  app.get("/page", (context) => context.html(PAGE.replace("%origin%", baseUrl)));
  app.get("/client/:file", async (context) => {
    const file = join(project, "node_modules/agent-health-client/dist", context.req.param("file"));
    return context.body(await readFile(file, "utf8"), 200, { "content-type": "text/javascript" });
  });
  app.route("/", fakeApp().app);
  return new Promise((resolve) => {
    const listening = serve({ fetch: app.fetch, hostname: "127.0.0.1", port: 0, createServer }, ({ port }) =>
      resolve({ server: listening as Server, baseUrl: `http://127.0.0.1:${port}` }),
    );
  });
}

describe("the packed client", () => {
  it("has no dependencies and holds nothing but what runs", async () => {
    const installed = join(project, "node_modules/agent-health-client/package.json");
    const manifest = JSON.parse(await readFile(installed, "utf8"));
    expect(manifest.dependencies).toBeUndefined();
    const { stdout } = await run("npm", ["ls", "--all", "--parseable"], { cwd: project });
    expect(stdout.trim().split("\n")).toHaveLength(2);
  });

  it("runs in Node", async () => {
    const script = `import { AgentHealth } from "agent-health-client";
      const health = new AgentHealth(${JSON.stringify(KEY)}, { baseUrl: ${JSON.stringify(baseUrl)} });
      const { action, score, grade } = await health.route(${JSON.stringify(WALLET_EIP55)});
      console.log(JSON.stringify({ action, score, grade }));`;
    await writeFile(join(project, "ask.js"), script);
    const { stdout } = await run("node", ["ask.js"], { cwd: project });
    expect(JSON.parse(stdout)).toEqual({ action: "instant_settle", score: 84, grade: "B" });
  });

  it("type-checks in a project of its own, and refuses a policy that does not fit", async () => {
    const good = `import { AgentHealth } from "agent-health-client";
      import { trustGate } from "agent-health-client/gate";
      const health = new AgentHealth("k", { baseUrl: "https://x.example" });
      export const action: "instant_settle" | "escrow" | "reject" = (await health.route("0x")).action;
      export const gate = trustGate({ client: health, onUnavailable: "refuse" });\n`;
    const bad = `${good}await health.setPolicy({ instant_grades: ["Z"], escrow_grades: [] });\n`;
    const tsc = join(import.meta.dirname, "../../node_modules/typescript/bin/tsc");
    const check = async (source: string) => {
      await writeFile(join(project, "use.ts"), source);
      const flags = [
        "--noEmit",
        "--strict",
        "--module",
        "nodenext",
        "--target",
        "es2022",
        "--lib",
        "es2022,dom",
      ];
      return run("node", [tsc, ...flags, "use.ts"], { cwd: project });
    };
    await check(good);
    await expect(check(bad)).rejects.toMatchObject({ stdout: expect.stringContaining('"Z"') });
  });

  it.skipIf(CHROMIUM === null)("runs in a browser, from another origin as well", async () => {
    const browser = await chromium.launch({ executablePath: CHROMIUM ?? "", args: ["--no-sandbox"] });
    try {
      const page = await browser.newPage();
      // localhost and 127.0.0.1 are two origins: the call needs the CORS headers of the service.
      await page.goto(`${baseUrl.replace("127.0.0.1", "localhost")}/page`);
      await page.waitForFunction("window.decision !== undefined");
      expect(await page.evaluate("window.decision")).toEqual({ action: "instant_settle", score: 84 });
    } finally {
      await browser.close();
    }
  });
});
