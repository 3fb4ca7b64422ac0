import { csvRows } from "../../service/sanctions/csv-rows.ts";

/** Counts of wallets' own calls in a list of real transactions, which has no labels. */
type TransactionTable = {
  readonly transactions: number;
  readonly wallets: number;
  readonly own: number;
  readonly failed: number;
  /** Wallets with ten own calls or more. */
  readonly busy: number;
};

const COLUMNS = ["wallet_address", "from_address", "successful"] as const;
const BUSY_CALLS = 10;

/** Counts own calls of a CSV file with the columns wallet_address, from_address and successful; throws without one of them. */
export function transactionTable(text: string): TransactionTable {
  const [header = [], ...rows] = csvRows(text);
  const [wallet = -1, from = -1, successful = -1] = COLUMNS.map((name) => header.indexOf(name));
  if ([wallet, from, successful].includes(-1))
    throw new Error(`expected the columns ${COLUMNS.join(", ")}, got ${header.join(", ")}`);
  const ownOf = new Map<string, number>();
  let failed = 0;
  for (const cells of rows) {
    const key = cells[wallet]?.toLowerCase() ?? "";
    const isOwn = cells[from]?.toLowerCase() === key;
    ownOf.set(key, (ownOf.get(key) ?? 0) + (isOwn ? 1 : 0));
    if (isOwn && cells[successful]?.toLowerCase() === "false") failed += 1;
  }
  const own = [...ownOf.values()];
  return {
    transactions: rows.length,
    wallets: ownOf.size,
    own: own.reduce((sum, calls) => sum + calls, 0),
    failed,
    busy: own.filter((calls) => calls >= BUSY_CALLS).length,
  };
}
