import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { parseConfig } from "../../../bin/config.ts";
import { localFiles } from "../../../devnet/demo/local-files.ts";
import type { Rising } from "../../../devnet/demo/start-chain.ts";
import { startPanel } from "../../../devnet/demo/start-services.ts";

/** Two starts of a process, on a machine that may have other work. */
const TIMEOUT_MS = 60_000;

let rising: Rising;
beforeEach(() => {
  rising = {
    files: localFiles(mkdtempSync(join(tmpdir(), "ahs-start-panel-"))),
    progress: { show: () => undefined, end: () => undefined },
    children: [],
    deaths: [],
    signal: AbortSignal.timeout(TIMEOUT_MS),
  };
});
afterEach(async () => {
  for (const child of rising.children) await child.stop();
  rmSync(rising.files.dataDir, { recursive: true });
});

test.each([
  ["without a second model", {}],
  ["with one on its server", { PANEL_SECOND_MODEL: "other" }],
  [
    "with one on another server",
    {
      ...{ PANEL_SECOND_BASE_URL: "https://other.example/v1", PANEL_SECOND_API_KEY: "another key" },
      ...{ PANEL_SECOND_MODEL: "other", PANEL_SECOND_PROMPT_USD_PER_MILLION: "0.3" },
      PANEL_SECOND_ANSWER_USD_PER_MILLION: "1.1",
    },
  ],
])("a panel that is configured %s is handed on as it is, and nothing is started", async (_, second) => {
  const config = parseConfig({
    ...second,
    PANEL_BASE_URL: "https://models.example/v1",
    PANEL_API_KEY: "a key",
    PANEL_MODEL: "large",
    PANEL_ROLE_MODELS: "critic=larger",
    PANEL_TEMPERATURE: "0.2",
    PANEL_SEED: "7",
    PANEL_CALL_SECONDS: "30",
    PANEL_CONTEXT_TOKENS: "64000",
    PANEL_ANSWER_TOKENS: "2000",
    PANEL_TOKENS_PER_DAY: "1000",
    PANEL_PROMPT_USD_PER_MILLION: "0.5",
    PANEL_ANSWER_USD_PER_MILLION: "1.5",
    PANEL_CACHED_USD_PER_MILLION: "0.1",
    PANEL_UNANIMOUS_ABOVE_USD: "5",
    PANEL_SECOND_MODEL_ABOVE_USD: "500",
    PANEL_EARLY_STOP: "0",
    PANEL_AT_ONCE: "3",
    PANEL_CONTROL_TOKENS: "reserved_0 reserved_1",
    PANEL_ALLOW_CONTROL_TOKENS: "1",
  });
  const { settings, scriptedUrl } = await startPanel(rising, config, "http://127.0.0.1:1");
  expect(scriptedUrl).toBeNull();
  expect(rising.children).toEqual([]);
  expect(parseConfig(settings).panel).toEqual(config.panel);
});

test("without one the scripted model is started, and started again when it is killed", {
  timeout: TIMEOUT_MS,
}, async () => {
  const node = createServer((_, response) => {
    response.end(JSON.stringify([{ jsonrpc: "2.0", id: 0, result: "0x7a69" }]));
  }).listen(0, "127.0.0.1");
  const rpcUrl = () => `http://127.0.0.1:${(node.address() as AddressInfo).port}`;
  await expect.poll(() => node.listening).toBe(true);
  const { settings } = await startPanel(rising, parseConfig({}), rpcUrl());
  const models = () => fetch(`${settings.PANEL_BASE_URL}/models`).then((response) => response.json());
  expect(await models()).toMatchObject({ data: [{ id: settings.PANEL_MODEL }, { id: "scripted-appeal" }] });
  const first = rising.children[0]?.pid();
  if (first === undefined) throw new Error("nothing was started");
  process.kill(first, "SIGKILL");
  await expect.poll(() => rising.children[0]?.pid()).not.toBe(first);
  await expect.poll(models).toMatchObject({ data: [{ id: "scripted" }, { id: "scripted-appeal" }] });
  node.close();
});
