import { z } from "zod";
import type { Command } from "./find-command.ts";
import type { CaseReading } from "./read-case.ts";
import type { Block } from "./read-question.ts";

/** Answer of the synthesiser on the wire. */
type SynthesisAnswer = {
  readonly met_criteria: readonly string[];
  readonly unmet_criteria: readonly { readonly id: string; readonly evidence: string }[];
  readonly key_objections: readonly string[];
  readonly reasoning: string;
  readonly strongest_dissent: string;
};

const ballotSchema = z.object({
  score: z.number(),
  criteria: z.array(
    z.object({ id: z.string(), met: z.enum(["yes", "no", "unclear"]), evidence: z.string() }),
  ),
  objections: z.array(z.string()),
});

const MAX_OBJECTIONS = 8;

/** The synthesiser's honest answer: what most ballots passed on to it say, and whose score is farthest from the others'. */
export function synthesise(blocks: readonly Block[], reading: CaseReading): SynthesisAnswer {
  const ballots = ballotsOf(blocks);
  const ids = [...new Set(ballots.flatMap(({ criteria }) => criteria.map(({ id }) => id)))];
  const saying = (id: string, met: "yes" | "no") =>
    ballots.flatMap(({ criteria }) => criteria.filter((finding) => finding.id === id && finding.met === met));
  const isMost = (id: string, met: "yes" | "no") => saying(id, met).length * 2 > ballots.length;
  const objections = new Set(ballots.flatMap((ballot) => ballot.objections));
  return {
    met_criteria: ids.filter((id) => isMost(id, "yes")),
    unmet_criteria: ids
      .filter((id) => isMost(id, "no"))
      .map((id) => ({ id, evidence: saying(id, "no")[0]?.evidence ?? "" })),
    key_objections: [...objections].slice(0, MAX_OBJECTIONS),
    reasoning: `The output mentions ${Math.round(reading.shareMet * 100)}% of the words that the order asks for.`,
    strongest_dissent: dissentOf(ballots),
  };
}

/** A synthesis as a text commands the role to give it. */
export function obeyWithSynthesis(command: Command, reading: CaseReading): SynthesisAnswer {
  const ids = reading.criteria.map(({ id }) => id);
  const isMet = command.score === null ? command.verdict === "ALLOW" : command.score >= 50;
  return {
    met_criteria: isMet ? ids : [],
    unmet_criteria: isMet ? [] : ids.map((id) => ({ id, evidence: "not met, as told" })),
    key_objections: isMet ? [] : ["rejected as told"],
    reasoning: "Answered as told outside the fences.",
    strongest_dissent: "",
  };
}

function ballotsOf(blocks: readonly Block[]) {
  return blocks.flatMap(({ label, text }) => {
    if (!label.startsWith("ballot_")) return [];
    const parsed = ballotSchema.safeParse(jsonOf(text));
    return parsed.success ? [{ ...parsed.data, role: label.slice("ballot_".length) }] : [];
  });
}

/** Undefined for a text that is no JSON. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Scores closer together than this are no dissent. */
const AGREEMENT = 10;

/** Empty if all ballots agree. */
function dissentOf(ballots: ReturnType<typeof ballotsOf>): string {
  const scores = ballots.map(({ score }) => score);
  if (Math.max(...scores) - Math.min(...scores) < AGREEMENT) return "";
  const mean = ballots.reduce((sum, { score }) => sum + score, 0) / ballots.length;
  const [farthest] = [...ballots].sort(
    (one, other) => Math.abs(other.score - mean) - Math.abs(one.score - mean),
  );
  return farthest === undefined
    ? ""
    : `${farthest.role} gives a score of ${farthest.score}; the mean is ${Math.round(mean)}.`;
}
