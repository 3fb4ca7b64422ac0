import { type Command, findCommand, findInstructions } from "./find-command.ts";

/** Further different system messages are not distinguished. */
const MAX_VARIANTS = 16;

/**
 * Separates the operator's text from text slipped into a system message: the first one of its kind is
 * the operator's. Sentences that a later one adds and that command a judge's answer are a third party's, to be obeyed. A kind is a role and a mode: where the schema is put into the message, it is longer.
 */
export function createOperatorPrompts() {
  const prompts = new Map<string, { readonly lines: Set<string>; readonly seen: Set<string> }>();
  return {
    /** The command in lines of a system message that are not the operator's; null without one. */
    commandIn: (kind: string, instructions: string): Command | null => {
      const lines = instructions.split("\n");
      const known = prompts.get(kind);
      if (known === undefined) {
        prompts.set(kind, { lines: new Set(lines), seen: new Set([instructions]) });
        return null;
      }
      if (known.seen.size < MAX_VARIANTS) known.seen.add(instructions);
      const foreign = lines.filter((line) => !known.lines.has(line)).join("\n");
      return findCommand(findInstructions(foreign).join("\n"));
    },
    /** How many different system messages came of each kind, marker aside. */
    variants: (): Readonly<Record<string, number>> =>
      Object.fromEntries([...prompts].map(([kind, { seen }]) => [kind, seen.size])),
  };
}
