import { createReadStream } from "node:fs";
import { parseArgs } from "node:util";
import type { Database } from "../../service/db/database.ts";
import { THREAT_KINDS } from "../../service/db/tables/sanctions.ts";
import { RefusedList } from "../../service/sanctions/list-file.ts";
import { parseThreats, type ThreatFile } from "../../service/sanctions/parse-threats.ts";
import type { ThreatKind } from "../../service/sanctions/threat.ts";
import { importThreats, readThreatLists, removeThreatList } from "../../service/sanctions/threats.ts";
import { unpackList } from "../../service/sanctions/unpack-list.ts";
import { actionsOf, onlyOne, withDatabase } from "../command.ts";
import type { Invocation } from "../config.ts";
import { renderTable } from "../render-table.ts";

/** Usage of `ahs threats`. */
export const USAGE = `Usage: ahs threats import FILE --list NAME --kind ${THREAT_KINDS.join("|")} --source URL --licence TEXT
         [--date YYYY-MM-DD] [--column NAME] [--force]
       ahs threats list
       ahs threats remove NAME
import takes a JSON array of addresses, CSV or plain lines, as it is or gzipped, and replaces the whole list of that name.
Lists change no score: answers name them, and a routing policy may hold or reject their wallets. Read the licence first.
--date is the list's own date, today unless it is given. --column names the column of a CSV file with the addresses.
--force takes a list that shrank by more than half.`;

/** The longest public lists have some 2 MB. */
const MAX_LIST_BYTES = 32_000_000;
const NAME = /^[a-z0-9][a-z0-9-]{0,63}$/;
const DATE = /^\d{4}-\d{2}-\d{2}$/;
/** Longest source and licence; answers hold the source. */
const MAX_TEXT = 500;

type ThreatsDeps = {
  readonly db: Database;
  readonly out: (line: string) => void;
  readonly now: () => Date;
};

/** `ahs threats import|list|remove` on the configured database. */
export async function run({ config, args, out }: Invocation): Promise<void> {
  await withDatabase(config, "threats", (db, { now }) => runThreats(args, { db, out, now }));
}

/** Runs `ahs threats …`; throws with what was given and expected when the arguments, or the list, do not fit. */
export const runThreats = actionsOf<ThreatsDeps>(USAGE, { import: importList, list, remove });

async function importList(args: readonly string[], { db, out, now }: ThreatsDeps): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: {
      list: { type: "string" },
      kind: { type: "string" },
      source: { type: "string" },
      licence: { type: "string" },
      date: { type: "string" },
      column: { type: "string" },
      force: { type: "boolean", default: false },
    },
    allowPositionals: true,
  });
  const path = onlyOne(positionals, "import takes one file", USAGE);
  const importedAt = now();
  const row = {
    name: fitting("list", values.list, NAME, "a name of lower-case letters, digits and dashes"),
    kind: kindOf(values.kind),
    source: printable("source", values.source),
    licence: printable("licence", values.licence),
    listDate: dateOf(values.date ?? importedAt.toISOString().slice(0, 10)),
  };
  try {
    const file = parseThreats(await textOf(path), values.column ?? null);
    const { addresses } = file;
    const counts = await importThreats(db, { ...row, addresses, importedAt, force: values.force });
    for (const line of describeImport(row, { ...counts, file })) out(line);
  } catch (error) {
    if (!(error instanceof RefusedList)) throw error;
    throw new Error(`${path} was not imported, and the last list stays in force: ${error.message}`, {
      cause: error,
    });
  }
}

async function textOf(path: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of unpackList(createReadStream(path), MAX_LIST_BYTES)) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

function kindOf(given: string | undefined): ThreatKind {
  const kind = THREAT_KINDS.find((one) => one === given);
  if (kind !== undefined) return kind;
  throw new Error(`--kind: given ${shown(given)}, expected one of ${THREAT_KINDS.join(", ")}`);
}

function dateOf(given: string): string {
  const date = fitting("date", given, DATE, "a date as YYYY-MM-DD");
  const time = Date.parse(`${date}T00:00:00Z`);
  if (!Number.isNaN(time) && new Date(time).toISOString().startsWith(date)) return date;
  throw new Error(`--date: given "${date}", expected a day of the calendar`);
}

function printable(name: string, given: string | undefined): string {
  return fitting(name, given?.trim(), /^\P{C}{1,500}$/u, `1 to ${MAX_TEXT} printable characters`);
}

function fitting(name: string, given: string | undefined, pattern: RegExp, expected: string): string {
  if (given !== undefined && pattern.test(given)) return given;
  throw new Error(`--${name}: given ${shown(given)}, expected ${expected}`);
}

function shown(given: string | undefined): string {
  return given === undefined ? "nothing" : `"${given}"`;
}

function describeImport(
  { name, kind, source, listDate }: { name: string; kind: ThreatKind; source: string; listDate: string },
  {
    added,
    removed,
    unchanged,
    file,
  }: { added: number; removed: number; unchanged: number; file: ThreatFile },
): string[] {
  const { addresses, repeated, malformedCount, malformed } = file;
  const lines = [
    `${name} (${kind}), of ${listDate}, from ${source}: ${addresses.length} addresses`,
    `${added} added, ${removed} removed, ${unchanged} unchanged; ${repeated} repeated entries`,
  ];
  if (malformedCount > 0)
    lines.push(`${malformedCount} entries are no EVM address:`, ...malformed.map((one) => `  ${one}`));
  return lines;
}

async function list(args: readonly string[], { db, out }: ThreatsDeps): Promise<void> {
  parseArgs({ args: [...args], options: {} });
  const lists = await readThreatLists(db);
  if (lists.length === 0) return out("no list of threats was imported");
  const header = ["list", "kind", "date", "imported at", "entries", "source", "licence"];
  const rows = lists.map(({ name, kind, listDate, importedAt, entries, source, licence }) => {
    return [name, kind, listDate, importedAt.toISOString(), String(entries), source, licence];
  });
  for (const line of renderTable([header, ...rows])) out(line);
}

async function remove(args: readonly string[], { db, out }: ThreatsDeps): Promise<void> {
  const { positionals } = parseArgs({ args: [...args], options: {}, allowPositionals: true });
  const name = onlyOne(positionals, "remove takes the name of one list", USAGE);
  if (!(await removeThreatList(db, name))) throw new Error(`there is no list "${name}"`);
  out(`${name} was removed: its wallets are listed by it no more`);
}
