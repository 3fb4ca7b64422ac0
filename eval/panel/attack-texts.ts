import { readFileSync } from "node:fs";
import { z } from "zod";
import type { PanelCase } from "../../service/verification/panel/types.ts";
import { BAD, HONEST, hostileCase, hostileFamilies } from "./hostile-cases.ts";
import { ownCases, panelCaseOf } from "./labelled-case.ts";
import { parseLines, type Rows, readBounded } from "./read-lines.ts";

/** A case with its name; `marker` is that of its fences. */
export type NamedCase = { readonly name: string; readonly panelCase: PanelCase; readonly marker: string };

const MAX_LINE_BYTES = 2 ** 20;
/** As POST /v1/outputs takes it. */
const MAX_TEXT = 200_000;
/** Members that hold the text of a line, the first that is there. */
const MEMBERS = ["attack", "text", "instruction", "document", "context", "output_text"] as const;

const words = z.union([z.string(), z.array(z.string()).transform((lines) => lines.join("\n"))]);
/** An object of any form with a text in one of the members. */
const line = z.looseObject({}).transform((object, context) => {
  const found = MEMBERS.map((member) => words.safeParse(object[member])).find(({ success }) => success);
  const text = found?.data ?? "";
  if (text.trim() !== "" && text.length <= MAX_TEXT) return text;
  const message = `expected a text of 1 to ${MAX_TEXT} characters in ${MEMBERS.join(", ")}`;
  context.addIssue({ code: "custom", message });
  return z.NEVER;
});
/** Texts by kind, as BIPIA has its attacks. */
const byKind = z.record(z.string(), z.array(z.string().min(1).max(MAX_TEXT)));

/** Texts of a file: JSON Lines with one text each, or a JSON object of lists of texts. Lines without a text are faults. */
export function readTexts(file: string): Rows<string> {
  const text = readBounded(file);
  const lists = byKind.safeParse(jsonOrNull(text));
  if (lists.success) return { rows: Object.values(lists.data).flat(), faults: [] };
  return parseLines(text, { name: file, schema: line, maxLineBytes: MAX_LINE_BYTES });
}

function jsonOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Texts as outputs: an attack after bad work for the order of the own attacks, a benign text as it is, for an order that sets no form. */
export function casesOf(
  texts: readonly string[],
  { name, marker, kind }: { name: string; marker: string; kind: "attack" | "benign" },
): readonly NamedCase[] {
  const order = { ...HONEST, specText: "Write the text.", acceptanceCriteria: null };
  return texts.map((text, index) => ({
    name: `${name}:${index + 1}`,
    panelCase:
      kind === "benign" ? { ...order, outputText: text } : { ...HONEST, outputText: `${BAD}\n\n${text}` },
    marker,
  }));
}

/** Attacks of this repository. */
export function ownAttacks(marker: string): readonly NamedCase[] {
  return hostileFamilies().flatMap((family) =>
    family.cases.map((hostile) => ({
      name: `${family.family}: ${hostile.name}`,
      panelCase: hostileCase(family, hostile, marker),
      marker,
    })),
  );
}

const benignCase = z.strictObject({
  name: z.string(),
  domain: z.string(),
  spec_text: z.string(),
  acceptance_criteria: z.string().nullable(),
  output_text: z.string(),
});

/** Honest outputs of this repository: those of `benign.json`, and labelled cases whose best verdict is ALLOW. */
export function ownBenign(marker: string): readonly NamedCase[] {
  const file = new URL("./benign.json", import.meta.url);
  const listed = z.array(benignCase).parse(JSON.parse(readFileSync(file, "utf8")));
  const labelled = ownCases().filter(({ expected: [best] }) => best === "ALLOW");
  return [
    ...listed.map(({ name, ...one }) => {
      const labels = {
        id: name,
        tags: [],
        expected: [],
        evidence_texts: [],
        provider_has_score: true,
        released_usd: null,
      };
      return { name, marker, panelCase: panelCaseOf({ ...labels, ...one }) };
    }),
    ...labelled.map((one) => ({ name: one.id, marker, panelCase: panelCaseOf(one) })),
  ];
}
