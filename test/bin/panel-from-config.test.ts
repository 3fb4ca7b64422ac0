import { Registry } from "prom-client";
import { describe, expect, test } from "vitest";
import { parseConfig } from "../../bin/config.ts";
import { panelFromConfig } from "../../bin/panel-from-config.ts";

const PANEL = { PANEL_BASE_URL: "https://models.example/v1", PANEL_MODEL: "a-model" };

describe("the panel of the settings", () => {
  test("has the models of its roles, and a new marker for each call", () => {
    const { panel } = parseConfig({
      ...PANEL,
      PANEL_API_KEY: "sk-1",
      PANEL_ROLE_MODELS: "critic=a-sharper-one",
    });
    if (panel === null) throw new Error("The settings name a panel");
    const { settings, newMarker } = panelFromConfig(panel, new Registry());
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

  test("is refused where answers would leave no room for the texts", () => {
    expect(() => parseConfig({ ...PANEL, PANEL_ANSWER_TOKENS: "12801" })).toThrow(
      "PANEL_ANSWER_TOKENS: may take a tenth",
    );
    expect(parseConfig({ ...PANEL, PANEL_ANSWER_TOKENS: "12800" }).panel?.answerTokens).toBe(12_800);
  });
});
