import { type Block, blockOf, fenceBlocks } from "./fence.ts";
import type { Prompts } from "./prompts.ts";
import type { Domain } from "./thresholds.ts";
import {
  type Criterion,
  GENERATOR_ROLES,
  type GeneratorRole,
  type PanelCase,
  type RoleName,
} from "./types.ts";

/** What one role is asked. */
export type RoleQuestion = {
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
