import { csvRows } from "../../service/sanctions/csv-rows.ts";

/** Figures of one wallet by column; a cell that is no number has none. */
export type LabelledWallet = { readonly isBad: boolean; readonly figures: ReadonlyMap<string, number> };

/**
 * Reads wallets of a CSV file with a header. Column names are compared in lower case with _ for other characters. Without a
 * label of the whole file the column `flag` has it: 1 is bad. Throws for a file without that column or without an address.
 */
export function readWallets(text: string, isBad: boolean | null = null): readonly LabelledWallet[] {
  const [header, ...rows] = csvRows(text);
  const columns = (header ?? []).map((name) =>
    name
      .trim()
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "_"),
  );
  const flag = columns.indexOf("flag");
  const address = columns.indexOf("address");
  if (address === -1 || (isBad === null && flag === -1))
    throw new Error(`expected the columns address and flag, got ${columns.join(", ")}`);
  // Some editions repeat addresses: the first row counts.
  const byAddress = new Map<string, LabelledWallet>();
  for (const cells of rows) {
    const key = cells[address]?.trim().toLowerCase() ?? "";
    if (key === "" || byAddress.has(key)) continue;
    const figures = new Map<string, number>();
    for (const [place, name] of columns.entries()) {
      const cell = cells[place]?.trim() ?? "";
      if (place !== address && cell !== "" && Number.isFinite(Number(cell))) figures.set(name, Number(cell));
    }
    byAddress.set(key, { isBad: isBad ?? Number(cells[flag]) === 1, figures });
  }
  return [...byAddress.values()];
}
