import { truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { parseLines, readBounded } from "../../../eval/panel/read-lines.ts";
import { useFolder } from "../../support/use-folder.ts";

const folder = useFolder();
const FORM = { name: "own.jsonl", schema: z.strictObject({ a: z.int().max(9) }), maxLineBytes: 30 };

test("a line that does not fit is named with its number and the expected form, and stops nothing", () => {
  const text = [
    '{"a":1}',
    "",
    "{",
    '{"a":10}',
    JSON.stringify({ a: 1, "b\u001b[2J": 2 }),
    `{"a":${" ".repeat(40)}2}`,
    '{"a":3}',
    "",
  ];
  expect(parseLines(text.join("\n"), FORM)).toEqual({
    rows: [{ a: 1 }, { a: 3 }],
    faults: [
      "own.jsonl:3: no JSON, expected one object a line",
      "own.jsonl:4: a: Too big: expected number to be <=9",
      // No control character of a file reaches the terminal.
      expect.stringMatching(/^own\.jsonl:5: the line: Unrecognized key[^\p{Cc}]+$/u),
      "own.jsonl:6: 47 bytes, expected at most 30",
    ],
  });
});

test("more lines than are allowed are refused", () => {
  expect(() => parseLines("{}\n".repeat(20_001), FORM)).toThrow("more than 20000 lines");
  expect(parseLines('{"a":1}\n'.repeat(20_000), FORM).rows).toHaveLength(20_000);
});

test("a file that is too large is refused unread, and so is one that is no file", () => {
  const large = join(folder, "large");
  writeFileSync(large, "");
  truncateSync(large, 64 * 2 ** 20 + 1);
  expect(() => readBounded(large)).toThrow("67108865 bytes, more than 67108864");
  expect(() => readBounded(folder)).toThrow("no regular file");
});
