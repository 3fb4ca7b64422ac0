import fc from "fast-check";
import { expect, test } from "vitest";
import { csvRows } from "../../../service/sanctions/csv-rows.ts";

test.each([
  ["nothing", "", []],
  ["a line without an end", "a,b", [["a", "b"]]],
  ["both line ends and blank lines", "a,b\r\n\r\nc\n", [["a", "b"], ["c"]]],
  [
    "empty cells",
    "a,,\n,b",
    [
      ["a", "", ""],
      ["", "b"],
    ],
  ],
  ["quoted cells", '"a,b","say ""no""","two\nlines"\nc', [["a,b", 'say "no"', "two\nlines"], ["c"]]],
  ["a byte order mark", "\uFEFFa,b\n", [["a", "b"]]],
  ["a quote without an end", 'a,"b', [["a", "b"]]],
])("reads %s", (_, text, rows) => {
  expect([...csvRows(text)]).toEqual(rows);
});

test("reads whatever was written as CSV", () => {
  const cell = fc.string().filter((text) => !text.startsWith("\uFEFF"));
  const rows = fc.array(fc.array(cell, { minLength: 2, maxLength: 4 }));
  fc.assert(
    fc.property(rows, fc.constantFrom("\n", "\r\n"), (written, end) => {
      const quoted = written.map((cells) => cells.map((text) => `"${text.replaceAll('"', '""')}"`).join(","));
      expect([...csvRows(quoted.join(end))]).toEqual(written);
    }),
  );
});
