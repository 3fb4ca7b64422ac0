import { ROLES, type Role } from "./roles.ts";

export type Block = { readonly label: string; readonly text: string };

/** The question of one panel call to a role. */
export type Question = {
  readonly role: Role;
  /** Texts between fences of this call's marker, in order; labels are `specification`, `criteria`, `output` and so on. */
  readonly blocks: readonly Block[];
  /** Lines of the user messages outside of fences. */
  readonly outside: readonly string[];
  /** The system message without role and marker: the same in every call of a role. */
  readonly instructions: string;
};

/** Shows nothing, so a fence line that holds one looks like a fence line. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;

/** Any character that a reader may take for an end of line, with the line before it: texts stay unchanged. */
const LINES =
  /[^\n\r\u2028\u2029\u0085\v\f]*(?:\r\n|[\n\r\u2028\u2029\u0085\v\f])|[^\n\r\u2028\u2029\u0085\v\f]+$/g;

/** Reads role, marker and blocks off the messages of a call; null where they are no question of the panel. */
export function readQuestion(
  messages: readonly { readonly role: string; readonly content: string }[],
): Question | null {
  const system = messages.filter(({ role }) => role === "system" || role === "developer");
  const text = system.map(({ content }) => content).join("\n");
  const named = /^Role: (\w+)\s*$/m.exec(text)?.[1];
  const marker = /^Fence: ([0-9a-f]{32})\s*$/m.exec(text)?.[1];
  const role = ROLES.find((name) => name === named);
  if (role === undefined || marker === undefined) return null;
  const instructions = text
    .replace(/^(?:Role|Fence): .*$/gm, "")
    .replaceAll(marker, "")
    .trim();
  const asked = messages
    .filter((message) => message.role === "user")
    .map(({ content }) => splitFences(content, marker));
  return {
    role,
    blocks: asked.flatMap(({ blocks }) => blocks),
    outside: asked.flatMap(({ outside }) => outside),
    instructions,
  };
}

/** Splits at a marker's fences, with any case, blanks and invisible characters. Unclosed and second blocks are outside. */
function splitFences(text: string, marker: string) {
  const blocks: Block[] = [];
  const outside: string[] = [];
  let open: { readonly label: string; readonly lines: string[] } | null = null;
  for (const line of text.match(LINES) ?? []) {
    const fence = fenceOf(line, marker);
    if (open === null && fence?.kind === "BEGIN") open = { label: fence.label, lines: [] };
    else if (open !== null && fence?.kind === "END" && fence.label === open.label) {
      if (blocks.some(({ label }) => label === fence.label)) outside.push(...open.lines);
      else blocks.push({ label: open.label, text: withoutLastEnd(open.lines.join("")) });
      open = null;
    } else if (open === null) outside.push(line);
    else open.lines.push(line);
  }
  outside.push(...(open?.lines ?? []));
  return { blocks, outside };
}

function withoutLastEnd(text: string): string {
  return text.replace(/(?:\r\n|[\n\r\u2028\u2029\u0085\v\f])$/, "");
}

function fenceOf(line: string, marker: string) {
  const plain = withoutLastEnd(line).replace(INVISIBLE, "").normalize("NFKC").toLowerCase();
  const [, kind, label, given] = /^\s*=+\s*(begin|end)\s+(\w+)\s+([0-9a-f]{32})\s*=+\s*$/.exec(plain) ?? [];
  if (kind === undefined || label === undefined || given !== marker) return null;
  return { kind: kind.toUpperCase() as "BEGIN" | "END", label };
}
