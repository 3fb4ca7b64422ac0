import { Registry } from "prom-client";
import { afterEach, describe, expect, test } from "vitest";
import { parseConfig } from "../../bin/config.ts";
import { modelProbeFromConfig, panelFromConfig } from "../../bin/panel-from-config.ts";
import { runPanel } from "../../service/verification/panel/run-panel.ts";
import { ROLE_NAMES, type RoleRecord } from "../../service/verification/panel/types.ts";
import { aCase, contentAnswer } from "../service/verification/panel/a-panel.ts";
import { type ModelServer, startModelServer } from "../service/verification/panel/model-server.ts";

const ports = () => ({ registry: new Registry(), now: () => new Date() });
const PANEL = { PANEL_BASE_URL: "https://models.example/v1", PANEL_MODEL: "a-model" };

describe("the panel of the settings", () => {
  test("has the models of its roles, and a new marker for each call", () => {
    const { panel } = parseConfig({
      ...PANEL,
      PANEL_API_KEY: "sk-1",
      PANEL_ROLE_MODELS: "critic=a-sharper-one",
    });
    if (panel === null) throw new Error("The settings name a panel");
    const { settings, newMarker } = panelFromConfig(panel, ports());
    expect(settings.models).toMatchObject({ criteria_auditor: "a-model", critic: "a-sharper-one" });
    expect(settings.prompts.hash).toMatch(/^0x[0-9a-f]{64}$/);
    const markers = Array.from({ length: 100 }, newMarker);
    expect(markers.filter((marker) => !/^[0-9a-f]{32}$/.test(marker))).toEqual([]);
    expect(new Set(markers).size).toBe(100);
  });

  test.each([
    ["http://models.example/v1", "neither https nor http on this machine"],
    ["https://me:secret@models.example/v1", "or holds a password"],
  ])("is refused at %s, to which no key may travel", (url, fault) => {
    expect(() => parseConfig({ ...PANEL, PANEL_BASE_URL: url })).toThrow(fault);
    expect(() => parseConfig({ ...PANEL, PANEL_BASE_URL: url })).not.toThrow("models.example");
  });

  test.each<[settings: Record<string, string>, fault: string]>([
    [
      { PANEL_SECOND_BASE_URL: "https://other.example/v1" },
      "PANEL_SECOND_BASE_URL: needs PANEL_SECOND_MODEL",
    ],
    [
      { PANEL_SECOND_MODEL: "b", PANEL_SECOND_API_KEY: "sk-2" },
      "PANEL_SECOND_API_KEY: needs PANEL_SECOND_BASE_URL",
    ],
    [
      { PANEL_SECOND_MODEL: "a-model" },
      "PANEL_SECOND_MODEL: the same as PANEL_MODEL, expected another model",
    ],
    [
      { PANEL_SECOND_MODEL: "b", PANEL_ROLE_MODELS: "evidence_checker=c" },
      "PANEL_ROLE_MODELS: evidence_checker is asked of PANEL_SECOND_MODEL",
    ],
    [
      { PANEL_SECOND_MODEL: "b", PANEL_SECOND_BASE_URL: "http://other.example/v1" },
      "PANEL_SECOND_BASE_URL: neither https",
    ],
    [
      { PANEL_SECOND_MODEL: "b", PANEL_SECOND_PROMPT_USD_PER_MILLION: "1" },
      "PANEL_SECOND_PROMPT_USD_PER_MILLION and PANEL_SECOND_ANSWER_USD_PER_MILLION: one needs the other",
    ],
  ])("refuses %j", (settings, fault) => {
    expect(() => parseConfig({ ...PANEL, ...settings })).toThrow(fault);
  });

  test("is refused where answers would leave no room for the texts", () => {
    expect(() => parseConfig({ ...PANEL, PANEL_ANSWER_TOKENS: "12801" })).toThrow(
      "PANEL_ANSWER_TOKENS: may take a tenth",
    );
    expect(parseConfig({ ...PANEL, PANEL_ANSWER_TOKENS: "12800" }).panel?.answerTokens).toBe(12_800);
  });
});

describe("a second model", () => {
  const open: ModelServer[] = [];
  afterEach(() => Promise.all(open.splice(0).map((server) => server.close())));
  const serve = async () => {
    const server = await startModelServer(contentAnswer);
    open.push(server);
    return server;
  };
  const panelOf = (env: Record<string, string>) => {
    const { panel } = parseConfig({ PANEL_MODEL: "a-model", ...env });
    if (panel === null) throw new Error("The settings name a panel");
    return panel;
  };

  /** Asks every role once. */
  const askAll = async (panel: ReturnType<typeof panelOf>) => {
    const deps = panelFromConfig(panel, ports());
    const records: RoleRecord[] = [];
    await runPanel(aCase(), {
      ...deps,
      known: [],
      begin: async () => undefined,
      keep: async (record) => {
        records.push(record);
      },
      signal: new AbortController().signal,
    });
    return records;
  };

  test("answers for its role alone, by its own key and prices, and never gets the first server's key", async () => {
    const [first, second] = [await serve(), await serve()];
    const records = await askAll(
      panelOf({
        ...{ PANEL_BASE_URL: first.baseUrl, PANEL_API_KEY: "sk-1", PANEL_SECOND_BASE_URL: second.baseUrl },
        ...{ PANEL_SECOND_MODEL: "another-model", PANEL_EARLY_STOP: "0" },
        ...{ PANEL_PROMPT_USD_PER_MILLION: "2", PANEL_ANSWER_USD_PER_MILLION: "10" },
      }),
    );
    const seen = second.calls.map(({ role, headers, body }) => [role, headers.authorization, body.model]);
    expect(seen).toEqual([["evidence_checker", undefined, "another-model"]]);
    expect(first.calls.map(({ role }) => role).sort()).toEqual(
      ROLE_NAMES.filter((role) => role !== "evidence_checker").sort(),
    );
    expect(new Set(first.calls.map(({ headers }) => headers.authorization))).toEqual(
      new Set(["Bearer sk-1"]),
    );
    // The prices of another model are not known.
    expect(records.filter(({ costUsd }) => costUsd === null).map(({ role }) => role)).toEqual([
      "evidence_checker",
    ]);
  });

  test("may be on the first server", async () => {
    const first = await serve();
    await askAll(
      panelOf({
        ...{ PANEL_BASE_URL: first.baseUrl, PANEL_API_KEY: "sk-1", PANEL_SECOND_MODEL: "another-model" },
      }),
    );
    const [checker] = first.callsOf("evidence_checker");
    expect(checker?.body.model).toBe("another-model");
    expect(checker?.headers.authorization).toBe("Bearer sk-1");
    expect(first.callsOf("critic")[0]?.body.model).toBe("a-model");
  });

  test("that does not answer is reported by name", async () => {
    const [first, second] = [await serve(), await serve()];
    const panel = panelOf({
      ...{ PANEL_BASE_URL: first.baseUrl, PANEL_SECOND_BASE_URL: second.baseUrl },
      PANEL_SECOND_MODEL: "another-model",
    });
    const probe = modelProbeFromConfig(panel);
    expect(await probe()).toEqual({ isReachable: true, detail: null });
    await second.close();
    expect(await probe()).toEqual({
      isReachable: false,
      detail: "the second model: the connection failed (ECONNREFUSED)",
    });
  });
});
