import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { loadPrompts } from "../../../../service/verification/panel/load-prompts.ts";
import { PANEL_VERSION } from "../../../../service/verification/panel/policy.ts";
import { readPrompts } from "../../../../service/verification/panel/prompts.ts";

const golden = JSON.parse(readFileSync("test/golden/panel-prompts.json", "utf8")) as Record<string, string>;

describe("prompts", () => {
  it("have the hash that is on record for this version: whoever changes one gives PANEL_VERSION another name", () => {
    expect({ [PANEL_VERSION]: loadPrompts().hash }).toEqual({ [PANEL_VERSION]: golden[PANEL_VERSION] });
  });

  it("had another hash in every other version", () => {
    expect(new Set(Object.values(golden)).size).toBe(Object.keys(golden).length);
  });

  it.each(["rules.md", "ballot.md", "score.md", "critic.md", "domains/code.md", "repair.md"])(
    "have another hash when %s changes by a letter",
    (changed) => {
      const read = (file: string) => (file === changed ? `${file}.` : file);
      expect(readPrompts(read).hash).not.toBe(readPrompts((file) => file).hash);
    },
  );

  it("differ from role to role and from domain to domain", () => {
    const { roles, domains } = loadPrompts();
    expect(new Set(Object.values(roles)).size).toBe(6);
    expect(new Set(Object.values(domains)).size).toBe(5);
  });
});
