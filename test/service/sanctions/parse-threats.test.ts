import { describe, expect, test } from "vitest";
import { MAX_THREATS, parseThreats } from "../../../service/sanctions/parse-threats.ts";
import { evmAddress } from "./sdn-file.ts";

const [A, B, C] = [1, 2, 3].map(evmAddress);
const BOTH = { addresses: [A, B], repeated: 0, malformedCount: 0, malformed: [] };

describe("a list of threats", () => {
  test.each([
    ["a JSON array", JSON.stringify([B, A])],
    ["CSV with a column address", `tag,address,address_2\nx,${B},y\n"a,b",${A},${C}\n`],
    ["CSV with one column of addresses", `banned_address,wallet_tag\n${B},Phish 1\n${A},Phish 2`],
    ["CSV without a header", `phish,${B}\r\nscam,${A}\r\n`],
    ["plain lines with comments", `# of today\n${B}\n\n${A}\n`],
    ["addresses in any case", `address\n${B?.toUpperCase().replace("0X", "0x")}\n${A}`],
  ])("is %s", (_, text) => {
    expect(parseThreats(text, null)).toEqual(BOTH);
  });

  test("may name its column", () => {
    const text = `contract_address,creator_address\n${C},${A}\n${C},${B}`;
    expect(parseThreats(text, "creator_address")).toEqual(BOTH);
  });

  test("counts repeated and malformed entries and shows the first of these", () => {
    const text = JSON.stringify([A, B, A, "0x12", 7, `\u0000${"x".repeat(200)}`]);
    expect(parseThreats(text, null)).toEqual({
      ...BOTH,
      repeated: 1,
      malformedCount: 3,
      malformed: ["0x12", "7", ` ${"x".repeat(99)}`],
    });
  });

  test.each([
    ["no address", JSON.stringify(["0x12"]), null, "no EVM address among 1 entries"],
    ["nothing", "", null, "no EVM address among 0 entries"],
    ["a broken array", `["${A}"`, null, "broken or truncated"],
    ["no column of addresses", `tag,note\nx,${A}`, null, "its first line is tag, note. --column"],
    ["two columns of addresses", "from_address,to_address\nx,y", null, "--column names the column"],
    ["another column", `address\n${A}`, "wallet", 'no column "wallet"; its columns are address'],
    ["too many entries", "x\n".repeat(MAX_THREATS + 2).replace("x", "address"), null, "more than 500000"],
  ])("with %s is refused", (_, text, column, message) => {
    expect(() => parseThreats(text, column)).toThrow(message);
  });
});
