import { readFileSync } from "node:fs";
import { ANSWER_SHAPES } from "./answers.ts";
import { type Block, blockOf, fenceBlocks } from "./fence.ts";
import { canonicalJson, hashText } from "./hashes.ts";
import { type Domain, THRESHOLD_HUNDREDTHS } from "./policy.ts";
import {
  type Criterion,
  type EvidenceOrder,
  GENERATOR_ROLES,
  type GeneratorRole,
  type PanelCase,
  ROLE_NAMES,
  type RoleName,
} from "./types.ts";

/** All prompt texts of the panel, without the texts of a case, and the keccak256 of prompts, answer schemas and evidence order. */
export type Prompts = ReturnType<typeof readPrompts>;

/** Reads the prompts by file name; errors of `read` are passed on. */
export function readPrompts(read: (file: string) => string) {
  const texts = {
    rules: read("rules.md"),
    ballot: read("ballot.md"),
    /** Meaning of a score, for roles that give or attack one. */
    score: read("score.md"),
    roles: readEach(ROLE_NAMES, (role) => read(`${role}.md`)),
    domains: readEach(DOMAINS, (domain) => read(`domains/${domain}.md`)),
    /** Text before the faults of a rejected answer. */
    repair: read("repair.md"),
  };
  const hashed = { texts, schemas: ANSWER_SHAPES, order: EVIDENCE_ORDER };
  return { ...texts, hash: hashText(canonicalJson(hashed)) };
}

// Object.keys returns plain strings.
const DOMAINS = Object.keys(THRESHOLD_HUNDREDTHS) as Domain[];

function readEach<Name extends string>(names: readonly Name[], read: (name: Name) => string) {
  return Object.fromEntries(names.map((name) => [name, read(name)])) as Record<Name, string>;
}

const FOLDER = new URL("./roles/", import.meta.url);

/** Reads the prompts of this release. Call it once per process. Throws if one is missing. */
export function loadPrompts(): Prompts {
  return readPrompts((file) => readFileSync(new URL(file, FOLDER), "utf8"));
}

/** Two of four generators read the output first: models favour a place, and this error cancels out over the ballots. */
export const EVIDENCE_ORDER: Readonly<Record<GeneratorRole, EvidenceOrder>> = {
  criteria_auditor: "specification_first",
  domain_expert: "output_first",
  evidence_checker: "specification_first",
  user_advocate: "output_first",
};

/** Blocks of a case that every role receives. */
export function caseBlocks(
  panelCase: Pick<PanelCase, "specText" | "outputText" | "evidenceTexts">,
  criteria: readonly Criterion[],
): readonly Block[] {
  const lines = criteria.map(({ id, text }) => `${id}: ${text}`);
  return [
    blockOf("specification", panelCase.specText),
    blockOf("criteria", lines.join("\n")),
    blockOf("output", panelCase.outputText),
    ...panelCase.evidenceTexts.map((text, index) => blockOf(`evidence_${index + 1}`, text)),
  ];
}

/** The blocks of a case in the order of a role: as given, or evidence and output before specification and criteria. */
export function orderBlocks(blocks: readonly Block[], role: GeneratorRole): readonly Block[] {
  if (EVIDENCE_ORDER[role] === "specification_first") return blocks;
  const isAsked = ({ label }: Block) => label === "specification" || label === "criteria";
  return [...blocks.filter((block) => !isAsked(block)).toReversed(), ...blocks.filter(isAsked)];
}

/** A role's checked answer as JSON, for later roles. */
export function answerBlock(label: `ballot_${GeneratorRole}` | "critique", answer: unknown): Block {
  return blockOf(label, JSON.stringify(answer, null, 1));
}

/**
 * System message of a role. It contains only our text: the faults of a rejected answer, if there was one, are in our words. The parts that
 * all calls share come first and the marker of the call comes last, so that servers which cache prefixes read most of it from there.
 */
export function systemMessage(
  { role, domain, faults }: { role: RoleName; domain: Domain; faults: readonly string[] },
  { prompts, marker }: { prompts: Prompts; marker: string },
): string {
  const parts = [
    prompts.rules,
    ...(isGenerator(role) ? [prompts.ballot, prompts.score] : []),
    ...(role === "critic" ? [prompts.score] : []),
    prompts.roles[role],
    prompts.domains[domain],
    `Role: ${role}\nFence: ${marker}`,
    ...(faults.length === 0
      ? []
      : [`${prompts.repair.trim()}\n${faults.map((fault) => `- ${fault}`).join("\n")}`]),
  ];
  return parts.map((part) => part.trim()).join("\n\n");
}

/** User message: a list of the blocks, the fenced blocks, and the request again, because models weigh the end of a long message most. */
export function userMessage(
  { role, blocks }: { role: RoleName; blocks: readonly Block[] },
  marker: string,
  controlTokens: readonly string[] = [],
): string {
  const labels = blocks.map(({ label }) => label).join(", ");
  const closing = `Here the blocks end. Answer as ${role}, with one JSON object by the schema.`;
  return `Blocks: ${labels}\n\n${fenceBlocks(blocks, marker, controlTokens)}\n\n${closing}`;
}

function isGenerator(role: RoleName): role is GeneratorRole {
  return GENERATOR_ROLES.some((name) => name === role);
}
