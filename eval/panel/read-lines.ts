import { readFileSync, statSync } from "node:fs";
import type { z } from "zod";
import { quoteOf } from "../../service/verification/panel/quotes.ts";

/** Bounds of a file that a third party may have written. */
const MAX_FILE_BYTES = 64 * 2 ** 20;
const MAX_LINES = 20_000;

const MAX_FAULT_CHARACTERS = 300;

/** The rows that fit, and what is wrong with each of the others, with its place in the file. */
export type Rows<Row> = { readonly rows: readonly Row[]; readonly faults: readonly string[] };

const SHOWN_FAULTS = 20;

/** Prints the first faults. Throws if rows that do not fit are not to be left out. */
export function reportFaults(faults: readonly string[], isStrict: boolean): void {
  for (const fault of faults.slice(0, SHOWN_FAULTS)) process.stderr.write(`${fault}\n`);
  if (faults.length > SHOWN_FAULTS) process.stderr.write(`and ${faults.length - SHOWN_FAULTS} more\n`);
  if (isStrict && faults.length > 0) throw new Error(`${faults.length} rows do not fit`);
}

/** Reads a text file of at most 64 MiB. Throws with the given and the greatest size. */
export function readBounded(file: string): string {
  const stat = statSync(file);
  if (!stat.isFile()) throw new Error(`${file} is no regular file`);
  if (stat.size > MAX_FILE_BYTES) {
    throw new Error(`${file} has ${stat.size} bytes, more than ${MAX_FILE_BYTES}`);
  }
  return readFileSync(file, "utf8");
}

/**
 * Parses JSON Lines: one row a line, empty lines left out. A line that is too long, no JSON or off the schema is a fault and stops nothing.
 * Throws if there are more than 20,000 lines.
 */
export function parseLines<Row>(
  text: string,
  form: { readonly name: string; readonly schema: z.ZodType<Row>; readonly maxLineBytes: number },
): Rows<Row> {
  const lines = text.split("\n", MAX_LINES + 2);
  if (lines.at(-1) === "") lines.pop();
  if (lines.length > MAX_LINES) throw new Error(`${form.name} has more than ${MAX_LINES} lines`);
  const rows: Row[] = [];
  const faults: string[] = [];
  for (const [index, line] of lines.entries()) {
    if (line.trim() === "") continue;
    const parsed = parseLine(line, form);
    if ("row" in parsed) rows.push(parsed.row);
    else faults.push(`${form.name}:${index + 1}: ${quoteOf(parsed.fault, MAX_FAULT_CHARACTERS)}`);
  }
  return { rows, faults };
}

function parseLine<Row>(
  line: string,
  { schema, maxLineBytes }: { schema: z.ZodType<Row>; maxLineBytes: number },
): { row: Row } | { fault: string } {
  const bytes = Buffer.byteLength(line);
  if (bytes > maxLineBytes) return { fault: `${bytes} bytes, expected at most ${maxLineBytes}` };
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return { fault: "no JSON, expected one object a line" };
  }
  return fitRow(value, schema);
}

/** The value as the schema has it, or every fault with its place and the expected form, in one line. */
function fitRow<Row>(value: unknown, schema: z.ZodType<Row>): { row: Row } | { fault: string } {
  const parsed = schema.safeParse(value);
  if (parsed.success) return { row: parsed.data };
  const faults = parsed.error.issues.map(({ path, message }) => {
    const place = path.length === 0 ? "the line" : path.map(String).join(".");
    return `${place}: ${message}`;
  });
  return { fault: faults.join("; ") };
}

/** Parses the entries of a JSON array as lines are parsed. Throws if the text is no JSON array of at most 20,000 entries. */
export function parseEntries<Row>(
  text: string,
  { name, schema }: { readonly name: string; readonly schema: z.ZodType<Row> },
): Rows<Row> {
  const entries = jsonOf(text, name);
  if (!Array.isArray(entries)) throw new Error(`${name} is no JSON array`);
  if (entries.length > MAX_LINES) throw new Error(`${name} has more than ${MAX_LINES} entries`);
  const parsed = entries.map((entry: unknown, index) => ({ index, ...fitRow(entry, schema) }));
  return {
    rows: parsed.flatMap((entry) => ("row" in entry ? [entry.row] : [])),
    faults: parsed.flatMap((entry) =>
      "fault" in entry ? [`${name}[${entry.index}]: ${quoteOf(entry.fault, MAX_FAULT_CHARACTERS)}`] : [],
    ),
  };
}

/** Parses JSON. Throws with the given name. */
export function jsonOf(json: string, name: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new Error(`${name} is no JSON`, { cause: error });
  }
}
