import { readFileSync } from "node:fs";
import { ANSWER_SHAPES } from "./answers.ts";
import { type Block, blockOf, fenceBlocks } from "./fence.ts";
import { canonicalJson, hashText } from "./hashes.ts";
import { type Domain, THRESHOLD_HUNDREDTHS } from "./policy.ts";
import {
  type Criterion,
  GENERATOR_ROLES,
  type GeneratorRole,
  type PanelCase,
  ROLE_NAMES,
  type RoleName,
} from "./types.ts";

/** Everything that the panel says to its models, but for the texts of a case. */
export type Prompts = {
  /** What holds for all roles. */
  readonly rules: string;
  /** What holds for the four generators. */
  readonly ballot: string;
  /** What a score means, for those who give one and who attack it. */
  readonly score: string;
  readonly roles: Readonly<Record<RoleName, string>>;
  readonly domains: Readonly<Record<Domain, string>>;
  /** What goes before the faults of an answer that has to be given again. */
  readonly repair: string;
  /** keccak256 over all of it and the schemas of the answers: 0x and 64 hexadecimal digits. */
  readonly hash: string;
};

/** Reads the prompts by their file names; whatever `read` throws is passed on. */
export function readPrompts(read: (file: string) => string): Prompts {
  const texts = {
    rules: read("rules.md"),
    ballot: read("ballot.md"),
    score: read("score.md"),
    roles: readEach(ROLE_NAMES, (role) => read(`${role}.md`)),
    domains: readEach(DOMAINS, (domain) => read(`domains/${domain}.md`)),
    repair: read("repair.md"),
  };
  return { ...texts, hash: hashText(canonicalJson({ texts, schemas: ANSWER_SHAPES })) };
}

// Object.keys loses the names that the table has.
const DOMAINS = Object.keys(THRESHOLD_HUNDREDTHS) as Domain[];

function readEach<Name extends string>(names: readonly Name[], read: (name: Name) => string) {
  // Every name is there, since each is read.
  return Object.fromEntries(names.map((name) => [name, read(name)])) as Record<Name, string>;
}

const FOLDER = new URL("./roles/", import.meta.url);

/** The prompts of this release, from the files beside this one; once per process. Throws where one is missing. */
export function loadPrompts(): Prompts {
  return readPrompts((file) => readFileSync(new URL(file, FOLDER), "utf8"));
}

/** What one role is asked. */
type RoleQuestion = {
  readonly role: RoleName;
  readonly domain: Domain;
  /** All that is not ours. */
  readonly blocks: readonly Block[];
  /** What was off in an answer that has to be given again, in words of ours; empty for a first question. */
  readonly faults: readonly string[];
};

/** Specification, criteria, output and evidence of a case, as every role gets them. */
export function caseBlocks(panelCase: PanelCase, criteria: readonly Criterion[]): readonly Block[] {
  const lines = criteria.map(({ id, text }) => `${id}: ${text}`);
  return [
    blockOf("specification", panelCase.specText),
    blockOf("criteria", lines.join("\n")),
    blockOf("output", panelCase.outputText),
    ...panelCase.evidenceTexts.map((text, index) => blockOf(`evidence_${index + 1}`, text)),
  ];
}

/** What a role answered, for those that come after it: as it was checked, in JSON. */
export function answerBlock(label: `ballot_${GeneratorRole}` | "critique", answer: unknown): Block {
  return blockOf(label, JSON.stringify(answer, null, 1));
}

/** The system message of a role, in which nothing but ours stands. */
export function systemMessage(
  { role, domain, faults }: Omit<RoleQuestion, "blocks">,
  { prompts, marker }: { readonly prompts: Prompts; readonly marker: string },
): string {
  const parts = [
    `Role: ${role}\nFence: ${marker}`,
    prompts.rules,
    ...(isGenerator(role) ? [prompts.ballot, prompts.score] : []),
    ...(role === "critic" ? [prompts.score] : []),
    prompts.roles[role],
    prompts.domains[domain],
    ...(faults.length === 0
      ? []
      : [`${prompts.repair.trim()}\n${faults.map((fault) => `- ${fault}`).join("\n")}`]),
  ];
  return parts.map((part) => part.trim()).join("\n\n");
}

/**
 * The user message: which blocks follow, the blocks between fences that carry the marker, and once more what is asked, since of a long
 * message a model heeds the end most.
 */
export function userMessage({ role, blocks }: Pick<RoleQuestion, "role" | "blocks">, marker: string): string {
  const labels = blocks.map(({ label }) => label).join(", ");
  const closing = `Here the blocks end. Answer as ${role}, with one JSON object by the schema.`;
  return `Blocks: ${labels}\n\n${fenceBlocks(blocks, marker)}\n\n${closing}`;
}

function isGenerator(role: RoleName): role is GeneratorRole {
  return GENERATOR_ROLES.some((name) => name === role);
}
