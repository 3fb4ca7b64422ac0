import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { loadPrompts } from "../../../service/panel/load-prompts.ts";
import { caseBlocks, systemMessage, userMessage } from "../../../service/panel/messages.ts";
import { GENERATOR_ROLES, ROLE_NAMES } from "../../../service/panel/types.ts";
import { aCase } from "./a-panel.ts";

const MARKER = "0123456789abcdef0123456789abcdef";
const prompts = loadPrompts();
const system = (role: (typeof ROLE_NAMES)[number], faults: readonly string[] = []) =>
  systemMessage({ role, domain: "code", faults }, { prompts, marker: MARKER });

describe("systemMessage", () => {
  it.each(ROLE_NAMES)("tells %s its role, the fence, the rules, its own part and the domain", (role) => {
    const message = system(role);
    expect(message.split("\n").slice(0, 2)).toEqual([`Role: ${role}`, `Fence: ${MARKER}`]);
    for (const part of [prompts.rules, prompts.roles[role], prompts.domains.code]) {
      expect(message).toContain(part.trim());
    }
    expect(message.includes(prompts.ballot.trim())).toBe(GENERATOR_ROLES.some((name) => name === role));
    expect(message).not.toContain(prompts.repair.trim());
  });

  it("tells what was off where an answer has to be given again", () => {
    expect(system("critic", ["spec_gaming: missing", "confidence: too large"])).toMatch(
      /What was off:\n- spec_gaming: missing\n- confidence: too large$/,
    );
  });
});

describe("userMessage", () => {
  it("holds the texts of a case in fences, and outside of them only which blocks there are", () => {
    const panelCase = aCase({ evidenceTexts: ["First.", "Second."] });
    const blocks = caseBlocks(panelCase, [
      { id: "c1", text: "Names the moon" },
      { id: "c2", text: "Is two sentences long" },
    ]);
    const block = (label: string, text: string) =>
      `=== BEGIN ${label} ${MARKER} ===\n${text}\n=== END ${label} ${MARKER} ===`;
    expect(userMessage(blocks, MARKER)).toBe(
      [
        "Blocks: specification, criteria, output, evidence_1, evidence_2",
        block("specification", "Write two sentences about tides."),
        block("criteria", "c1: Names the moon\nc2: Is two sentences long"),
        block("output", "The moon pulls at the sea. Twice a day it rises."),
        block("evidence_1", "First."),
        block("evidence_2", "Second."),
      ].join("\n\n"),
    );
  });

  it("says the same outside of the fences, whatever the texts are", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), (specText, outputText, evidence) => {
        const panelCase = aCase({ specText, outputText, evidenceTexts: [evidence] });
        const outside = userMessage(caseBlocks(panelCase, []), MARKER).replace(
          new RegExp(`=== BEGIN (\\w+) ${MARKER} ===\\n[^]*?\\n=== END \\1 ${MARKER} ===`, "g"),
          "…",
        );
        expect(outside).toBe("Blocks: specification, criteria, output, evidence_1\n\n…\n\n…\n\n…\n\n…");
      }),
    );
  });
});
