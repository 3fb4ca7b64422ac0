const PAUSE_MS = 60_000;
/** Most kinds within a minute; further ones count as one. */
const MOST_KINDS = 200;
const [WARN, FATAL] = [40, 60];
const MESSAGE_SHOWN = 200;

/**
 * Writes warnings and errors of one kind at most once a minute: the first at once, and after each minute the newest, whose
 * `repeated` counts those that came in it. Lines of other levels are written as they come.
 */
export function limitLines(write: (line: string) => unknown): (line: string) => void {
  const kinds = new Map<string, { count: number; newest: string }>();
  const begin = (kind: string): void => {
    kinds.set(kind, { count: 0, newest: "" });
    setTimeout(end, PAUSE_MS, kind).unref();
  };
  const end = (kind: string): void => {
    const { count, newest } = kinds.get(kind) ?? { count: 0, newest: "" };
    kinds.delete(kind);
    if (count === 0) return;
    write(newest.replace(/\}\n?$/, `,"repeated":${count}}\n`));
    begin(kind);
  };
  return (line) => {
    const own = kindOf(line);
    if (own === null) {
      write(line);
      return;
    }
    const kind = kinds.has(own) || kinds.size < MOST_KINDS ? own : "further";
    const known = kinds.get(kind);
    if (known === undefined) {
      write(line);
      begin(kind);
    } else {
      known.count += 1;
      known.newest = line;
    }
  };
}

/** Level, message and error of a JSON line, without numbers and addresses; null for a line that is never left out. */
function kindOf(line: string): string | null {
  const { level, msg, err, error = err } = parsed(line);
  if (typeof level !== "number" || level < WARN || level >= FATAL) return null;
  const { type, code, message } = typeof error === "object" && error !== null ? (error as ErrorFields) : {};
  return JSON.stringify([level, wordsOf(msg), type, code, wordsOf(message)]);
}

type ErrorFields = Readonly<Partial<Record<"type" | "code" | "message", unknown>>>;

function parsed(line: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    // Text of other programs.
    return {};
  }
}

function wordsOf(text: unknown): string {
  return String(text)
    .slice(0, MESSAGE_SHOWN)
    .replaceAll(/[0-9a-fx-]*\d[0-9a-f-]*/gi, "#");
}
