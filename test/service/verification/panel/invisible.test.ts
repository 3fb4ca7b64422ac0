import { expect, it } from "vitest";
import { findInvisible } from "../../../../service/verification/panel/invisible.ts";

it.each([
  ["a zero-width space", "ab\u200bc", { name: "U+200B", after: 2 }],
  ["a tag, counted in characters", "\u{1f600}\u{e0041}", { name: "U+E0041", after: 1 }],
  ["a control character at the start", "\u0001x", { name: "U+0001", after: 0 }],
])("finds %s", (_, text, found) => {
  expect(findInvisible(text)).toEqual(found);
});

it.each([
  "",
  "1. Rows\r\n2. Sources\t\u00e9 \u{1f468}\u200d\u{1f469} \u4e2d\u6587",
  "\ufeffstarts with a mark",
])("finds nothing in %j", (text) => {
  expect(findInvisible(text)).toBeNull();
});
