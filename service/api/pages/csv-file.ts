import { answer } from "../kit/answer.ts";
import type { ApiContext } from "../kit/api-env.ts";

type Cell = string | number | bigint | boolean | Date | null;

/** A public table for programs (RFC 4180), to download as NAME.csv. */
export function answerTable(
  context: ApiContext,
  {
    name,
    columns,
    rows,
  }: {
    readonly name: string;
    readonly columns: readonly string[];
    readonly rows: readonly (readonly Cell[])[];
  },
): Response {
  const lines = [columns, ...rows.map((row) => row.map(cellOf))].map((line) => line.join(","));
  return answer(context, {
    status: 200,
    body: `${lines.join("\r\n")}\r\n`,
    headers: {
      "content-type": "text/csv; charset=utf-8",
      "content-disposition": `attachment; filename="${name}.csv"`,
      "cache-control": "public, max-age=60",
    },
  });
}

/** A text that a spreadsheet would take for a formula begins with an apostrophe. */
function cellOf(value: Cell): string {
  if (value === null) return "";
  if (value instanceof Date) return value.toISOString();
  if (typeof value !== "string") return String(value);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
