/** Yields the rows of a CSV text (RFC 4180): cells in double quotes may hold commas, line breaks and doubled quotes. Blank lines are left out. */
export function* csvRows(text: string): Generator<readonly string[]> {
  let cells: string[] = [];
  let at = text.startsWith("\uFEFF") ? 1 : 0;
  while (at < text.length) {
    const { cell, end } = readCell(text, at);
    cells.push(cell);
    if (text[end] === ",") {
      at = end + 1;
      if (at === text.length) cells.push("");
      continue;
    }
    if (cells.length > 1 || cell !== "") yield cells;
    cells = [];
    at = text[end] === "\r" && text[end + 1] === "\n" ? end + 2 : end + 1;
  }
  if (cells.length > 0) yield cells;
}

/** The cell that starts at an offset, and the offset of the comma or line break behind it. */
function readCell(text: string, start: number): { readonly cell: string; readonly end: number } {
  let cell = "";
  let at = start;
  while (text[at] === '"') {
    const close = text.indexOf('"', at + 1);
    const until = close === -1 ? text.length : close;
    cell += text.slice(at + 1, until);
    at = until + 1;
    // A doubled quote is one quote, and the cell goes on.
    if (text[at] === '"') cell += '"';
  }
  CELL_END.lastIndex = at;
  const end = CELL_END.exec(text)?.index ?? text.length;
  return { cell: cell + text.slice(at, end), end };
}

const CELL_END = /[,\r\n]/g;
