import { Registry } from "prom-client";
import { describe, expect, test } from "vitest";
import { appealsOf } from "../../bin/appeal-settings.ts";
import { parseConfig } from "../../bin/config.ts";
import { panelsFromConfig } from "../../bin/panel-from-config.ts";
import { ROLE_NAMES } from "../../service/verification/panel/types.ts";

const FIRST = { PANEL_BASE_URL: "https://models.example/v1", PANEL_MODEL: "a", PANEL_API_KEY: "sk-1" };
const SECOND = {
  PANEL_APPEAL_BASE_URL: "https://other.example/v1",
  PANEL_APPEAL_MODEL: "b",
  APPEAL_WINDOW_SECONDS: "600",
};

describe("the panel of appeals", () => {
  test("has its one model for all roles, its own key, and the first panel's limits", () => {
    const { panel, appeals } = parseConfig({ ...FIRST, ...SECOND, PANEL_CONTEXT_TOKENS: "50000" });
    if (panel === null || appeals.panel === null) throw new Error("the settings name both panels");
    expect(appeals.panel).toMatchObject({
      baseUrl: SECOND.PANEL_APPEAL_BASE_URL,
      apiKey: null,
      second: null,
    });
    const opened = panelsFromConfig(panel, appeals.panel, {
      registry: new Registry(),
      now: () => new Date(),
    });
    expect(opened.appeal?.settings).toMatchObject({
      models: Object.fromEntries(ROLE_NAMES.map((role) => [role, "b"])),
      contextTokens: 50_000,
    });
    expect(opened.first.settings.models.critic).toBe("a");
  });

  test.each<[string, Record<string, string>, number | null]>([
    ["both panels", { ...FIRST, ...SECOND }, 600],
    [
      "another model of the same server",
      { ...FIRST, ...SECOND, PANEL_APPEAL_BASE_URL: FIRST.PANEL_BASE_URL },
      600,
    ],
    ["the same model of another server", { ...FIRST, ...SECOND, PANEL_APPEAL_MODEL: "a" }, 600],
    ["a window of 0", { ...FIRST, ...SECOND, APPEAL_WINDOW_SECONDS: "0" }, null],
    ["the first panel alone", FIRST, null],
    ["nothing", {}, null],
  ])("decides appeals by %s: %s, %s seconds", (_, settings, seconds) => {
    expect(appealsOf(parseConfig(settings).appeals)?.windowSeconds ?? null).toBe(seconds);
  });

  const SAME = 'PANEL_APPEAL_MODEL: got "a", which the first panel has at the same base URL';
  test.each<[Record<string, string>, string]>([
    [{ PANEL_APPEAL_MODEL: "a", PANEL_APPEAL_BASE_URL: "https://MODELS.example:443/v1/" }, SAME],
    [
      { PANEL_SECOND_MODEL: "b", PANEL_SECOND_BASE_URL: SECOND.PANEL_APPEAL_BASE_URL },
      'PANEL_APPEAL_MODEL: got "b"',
    ],
    [
      { PANEL_ROLE_MODELS: "critic=b", PANEL_APPEAL_BASE_URL: FIRST.PANEL_BASE_URL },
      'PANEL_APPEAL_MODEL: got "b"',
    ],
    [{ PANEL_APPEAL_BASE_URL: "http://other.example/v1" }, "PANEL_APPEAL_BASE_URL: neither https"],
    [{ PANEL_APPEAL_MODEL: "" }, "APPEAL_WINDOW_SECONDS: needs PANEL_APPEAL_MODEL"],
    [
      { PANEL_APPEAL_BASE_URL: "", PANEL_APPEAL_API_KEY: "sk-2" },
      "PANEL_APPEAL_API_KEY: needs PANEL_APPEAL_BASE_URL",
    ],
    [{ APPEAL_WINDOW_SECONDS: "" }, "PANEL_APPEAL_MODEL: needs APPEAL_WINDOW_SECONDS"],
    [{ APPEAL_WINDOW_SECONDS: "604801" }, "APPEAL_WINDOW_SECONDS"],
  ])("refuses %j", (settings, fault) => {
    expect(() => parseConfig({ ...FIRST, ...SECOND, ...settings })).toThrow(fault);
  });
});
