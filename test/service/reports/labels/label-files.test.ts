import { expect, test } from "vitest";
import { readLabelFile } from "../../../../service/reports/labels/label-files.ts";

const A = `0x${"a".repeat(40)}`;
const B = `0x${"b".repeat(40)}`;

test.each([
  [
    "labels.json",
    JSON.stringify({
      [A.toUpperCase().replace("0X", "0x")]: { name: "Bank 1", labels: ["bank"] },
      [B]: { name: "" },
    }),
  ],
  ["labels.csv", `name,address\n"Bank 1",${A}\nx,0x12\n`],
  ["labels.sql", `values (${A}, 'Bank', 'Bank 1', 'someone', date '2024-04-20')`],
])("reads the names of %s", (name, text) => {
  expect([...readLabelFile({ name, text })]).toEqual([[A, "Bank 1"]]);
});

test.each([
  ["labels.csv", "address,label\n", "labels.csv: expected the columns address and name, got address, label"],
  ["labels.txt", "", "labels.txt: expected a file of labels, .json, .csv or .sql"],
  ["labels.json", "[1]", "expected"],
])("refuses %s of another form", (name, text, message) => {
  expect(() => readLabelFile({ name, text })).toThrow(message);
});
