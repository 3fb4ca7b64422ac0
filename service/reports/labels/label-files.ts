import type { Address } from "viem";
import { z } from "zod";
import { csvRows } from "../../sanctions/csv-rows.ts";
import { printableName } from "./chain-labels.ts";

const labelledSchema = z.record(z.string(), z.object({ name: z.string() }));

const EVM_ADDRESS = /^0x[0-9a-f]{40}$/i;
/** A row of a list of exchange wallets in SQL: (0x…, 'Exchange', 'Exchange 1', …). */
const SQL_ROW = /\(\s*(0x[0-9a-f]{40})\s*,\s*'[^']*'\s*,\s*'([^']*)'/gi;

/**
 * The names that a public file of labels gives to accounts, by lower-case address; empty names are left out. Takes JSON of the form
 * {"0x…": {"name": "…"}}, CSV whose header names an `address` and a `name`, and SQL with rows of address, group and name.
 * Throws for other contents.
 */
export function readLabelFile(file: {
  readonly name: string;
  readonly text: string;
}): ReadonlyMap<Address, string> {
  const names = new Map<Address, string>();
  for (const [address, name] of entriesOf(file)) {
    const shown = printableName(name);
    if (EVM_ADDRESS.test(address) && shown !== "") names.set(address.toLowerCase() as Address, shown);
  }
  return names;
}

function entriesOf({
  name,
  text,
}: {
  readonly name: string;
  readonly text: string;
}): Iterable<readonly [string, string]> {
  if (name.endsWith(".json"))
    return Object.entries(labelledSchema.parse(JSON.parse(text))).map(([address, one]) => [
      address,
      one.name,
    ]);
  if (name.endsWith(".csv")) return csvEntries(name, text);
  if (name.endsWith(".sql"))
    return [...text.matchAll(SQL_ROW)].map(([, address = "", label = ""]) => [address, label]);
  throw new Error(`${name}: expected a file of labels, .json, .csv or .sql`);
}

function csvEntries(file: string, text: string): Iterable<readonly [string, string]> {
  const [header = [], ...rows] = csvRows(text);
  const [address, name] = ["address", "name"].map((column) => header.indexOf(column));
  if (address === undefined || name === undefined || address === -1 || name === -1)
    throw new Error(`${file}: expected the columns address and name, got ${header.join(", ")}`);
  return rows.map((cells) => [cells[address]?.trim() ?? "", cells[name] ?? ""]);
}
