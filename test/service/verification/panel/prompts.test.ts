import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ANSWER_LIMITS } from "../../../../service/verification/panel/answers.ts";
import { PANEL_VERSION } from "../../../../service/verification/panel/policy.ts";
import {
  caseBlocks,
  loadPrompts,
  orderBlocks,
  readPrompts,
  systemMessage,
  userMessage,
} from "../../../../service/verification/panel/prompts.ts";
import { GENERATOR_ROLES, ROLE_NAMES } from "../../../../service/verification/panel/types.ts";
import { aCase } from "./a-panel.ts";

const golden = JSON.parse(readFileSync("test/golden/panel-prompts.json", "utf8")) as Record<string, string>;

describe("prompts", () => {
  it("have the hash that is on record for this version: a change needs another PANEL_VERSION", () => {
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

const MARKER = "0123456789abcdef0123456789abcdef";
const prompts = loadPrompts();
const system = (role: (typeof ROLE_NAMES)[number], faults: readonly string[] = []) =>
  systemMessage({ role, domain: "code", faults }, { prompts, marker: MARKER });

describe("systemMessage", () => {
  it.each(ROLE_NAMES)("gives %s its role, the fence, the rules, its own part and the domain", (role) => {
    const message = system(role);
    expect(message.split("\n").slice(-2)).toEqual([`Role: ${role}`, `Fence: ${MARKER}`]);
    for (const part of [prompts.rules, prompts.roles[role], prompts.domains.code]) {
      expect(message).toContain(part.trim());
    }
    expect(message.includes(prompts.ballot.trim())).toBe(GENERATOR_ROLES.some((name) => name === role));
    expect(message.includes(prompts.score.trim())).toBe(role !== "synthesiser");
    expect(message).not.toContain(prompts.repair.trim());
  });

  it("starts with what all calls share, and for generators with what all of them share", () => {
    const shared = (messages: readonly string[]) => {
      const [first = "", ...others] = messages;
      const end = [...first].findIndex((_, index) => others.some((other) => other[index] !== first[index]));
      return first.slice(0, end);
    };
    expect(shared(ROLE_NAMES.map((role) => system(role)))).toContain(prompts.rules.trim());
    expect(shared(GENERATOR_ROLES.map((role) => system(role)))).toContain(prompts.score.trim());
    const markers = ["a".repeat(32), "b".repeat(32)];
    const [one, other] = markers.map((marker) =>
      systemMessage({ role: "critic", domain: "code", faults: [] }, { prompts, marker }),
    );
    expect(shared([one ?? "", other ?? ""])).toContain(prompts.domains.code.trim());
  });

  it("gives every role the limits of an answer", () => {
    const { quote, point, reason, points } = ANSWER_LIMITS;
    for (const limit of [quote, point, reason]) {
      expect(system("synthesiser")).toContain(`(${limit.toLocaleString("en")}`);
    }
    expect(system("synthesiser")).toContain(`${points} entries`);
  });

  it("lists the faults of an answer that has to be repeated", () => {
    expect(system("critic", ["spec_gaming: missing", "confidence: too large"])).toMatch(
      /What was off:\n- spec_gaming: missing\n- confidence: too large$/,
    );
  });
});

describe("orderBlocks", () => {
  it("lets two of four generators read evidence and output before specification and criteria", () => {
    const blocks = caseBlocks(aCase({ evidenceTexts: ["First.", "Second."] }), []);
    const orders = GENERATOR_ROLES.map((role) => orderBlocks(blocks, role).map(({ label }) => label));
    const given = ["specification", "criteria", "output", "evidence_1", "evidence_2"];
    const turned = ["evidence_2", "evidence_1", "output", "specification", "criteria"];
    expect(orders).toEqual([given, turned, given, turned]);
  });
});

describe("userMessage", () => {
  it("holds the texts of a case in fences, and outside of them only which blocks there are and what to do", () => {
    const panelCase = aCase({ evidenceTexts: ["First.", "Second."] });
    const blocks = caseBlocks(panelCase, [
      { id: "c1", text: "Names the moon" },
      { id: "c2", text: "Is two sentences long" },
    ]);
    const block = (label: string, text: string) =>
      `=== BEGIN ${label} ${MARKER} ===\n${text}\n=== END ${label} ${MARKER} ===`;
    expect(userMessage({ role: "domain_expert", blocks }, MARKER)).toBe(
      [
        "Blocks: specification, criteria, output, evidence_1, evidence_2",
        block("specification", "Write two sentences about tides."),
        block("criteria", "c1: Names the moon\nc2: Is two sentences long"),
        block("output", "The moon pulls at the sea. Twice a day it rises."),
        block("evidence_1", "First."),
        block("evidence_2", "Second."),
        "Here the blocks end. Answer as domain_expert, with one JSON object by the schema.",
      ].join("\n\n"),
    );
  });

  it("says the same outside of the fences, whatever the texts are", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), (specText, outputText, evidence) => {
        const panelCase = aCase({ specText, outputText, evidenceTexts: [evidence] });
        const outside = userMessage({ role: "critic", blocks: caseBlocks(panelCase, []) }, MARKER).replace(
          new RegExp(`=== BEGIN (\\w+) ${MARKER} ===\\n[^]*?\\n=== END \\1 ${MARKER} ===`, "g"),
          "…",
        );
        expect(outside).toBe(
          "Blocks: specification, criteria, output, evidence_1\n\n…\n\n…\n\n…\n\n…\n\nHere the blocks end. Answer as critic, with one JSON object by the schema.",
        );
      }),
    );
  });
});
