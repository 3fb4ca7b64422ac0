import type { Address } from "viem";
import { csvRows } from "./csv-rows.ts";
import { RefusedList } from "./list-file.ts";

/** The addresses of a list file. */
export type ThreatFile = {
  /** Lower-case, rising, each once. */
  readonly addresses: readonly Address[];
  /** Entries with an address that an earlier one has. */
  readonly repeated: number;
  /** Entries without an EVM address. */
  readonly malformedCount: number;
  /** The first of them, at most 20, each cut at 100 characters. */
  readonly malformed: readonly string[];
};

/** The longest public lists have some 10,000. */
export const MAX_THREATS = 500_000;
const MALFORMED_SHOWN = 20;
const VALUE_SHOWN = 100;
const EVM_ADDRESS = /^0x[0-9a-f]{40}$/i;

/**
 * Reads a list of addresses: a JSON array of them, or CSV, with or without a header; plain lines are CSV of one column. Lines that
 * start with # are comments. The column is the named one, else `address`, else the only one with "address" in its name. Throws a
 * RefusedList for other contents, for more than 500,000 entries and for a list without any address.
 */
export function parseThreats(text: string, column: string | null): ThreatFile {
  const addresses = new Set<Address>();
  const malformed: string[] = [];
  let entries = 0;
  let malformedCount = 0;
  for (const given of text.trimStart().startsWith("[") ? jsonEntries(text) : csvEntries(text, column)) {
    entries += 1;
    if (entries > MAX_THREATS) throw new RefusedList(`it has more than ${MAX_THREATS} entries`);
    if (EVM_ADDRESS.test(given)) addresses.add(given.toLowerCase() as Address);
    else {
      malformedCount += 1;
      if (malformed.length < MALFORMED_SHOWN)
        malformed.push(given.replace(/\p{C}/gu, " ").slice(0, VALUE_SHOWN));
    }
  }
  if (addresses.size === 0)
    throw new RefusedList(`it has no EVM address among ${entries} entries; expected one at least`);
  const repeated = entries - malformedCount - addresses.size;
  return { addresses: [...addresses].sort(), repeated, malformedCount, malformed };
}

function* jsonEntries(text: string): Generator<string> {
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch (error) {
    throw new RefusedList("it starts as a JSON array and is broken or truncated", { cause: error });
  }
  for (const entry of list as readonly unknown[])
    yield typeof entry === "string" ? entry : (JSON.stringify(entry) ?? "");
}

function* csvEntries(text: string, column: string | null): Generator<string> {
  let place: number | null = null;
  for (const cells of csvRows(text)) {
    if (cells[0]?.startsWith("#") === true) continue;
    if (place !== null) {
      yield (cells[place] ?? "").trim();
      continue;
    }
    const first = column === null ? cells.findIndex((cell) => EVM_ADDRESS.test(cell.trim())) : -1;
    place = first === -1 ? addressColumn(cells, column) : first;
    if (first !== -1) yield (cells[first] ?? "").trim();
  }
}

function addressColumn(header: readonly string[], wanted: string | null): number {
  const names = header.map((name) => name.trim().toLowerCase());
  const shown = names.map((name) => name.slice(0, VALUE_SHOWN)).join(", ");
  const exact = names.indexOf((wanted ?? "address").toLowerCase());
  if (exact !== -1) return exact;
  if (wanted !== null) throw new RefusedList(`it has no column "${wanted}"; its columns are ${shown}`);
  const [only, ...more] = names.flatMap((name, place) => (name.includes("address") ? [place] : []));
  if (only === undefined || more.length > 0)
    throw new RefusedList(
      `expected a first line with an address or one column of addresses; its first line is ${shown}. --column names the column`,
    );
  return only;
}
