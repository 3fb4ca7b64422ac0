import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { numberToHex } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import { beforeAll, expect, test } from "vitest";
import { runKeystore } from "../../../bin/commands/keystore.ts";
import { useFolder } from "../../support/use-folder.ts";

const KEY = numberToHex(0x51, { size: 32 });
const OTHER = numberToHex(0x52, { size: 32 });
const folder = useFolder();

beforeAll(() => {
  writeFileSync(join(folder, "password"), "a long password\n");
  writeFileSync(join(folder, "short"), "short\n");
});

async function run(line: string, input = "") {
  const lines: string[] = [];
  const args = line.split(" ").map((word) => word.replace("@", `${folder}/`));
  await runKeystore(args, {
    out: (text) => lines.push(text),
    readInput: async () => input,
    newKey: () => KEY,
    cost: 2,
  });
  return lines;
}

test("a new key is written for its owner alone, never over another, and printed as its address", async () => {
  expect(await run("create @new.json --password-file @password")).toEqual([privateKeyToAddress(KEY)]);
  expect(statSync(join(folder, "new.json")).mode & 0o777).toBe(0o600);
  expect(readFileSync(join(folder, "new.json"), "utf8")).not.toContain(KEY.slice(2));
  await expect(run("create @new.json --password-file @password")).rejects.toThrow(
    "new.json is there already: a keystore replaces no other",
  );
  expect(await run("address @new.json --password-file @password")).toEqual([privateKeyToAddress(KEY)]);
  await expect(run("address @new.json --password-file @short")).rejects.toThrow(
    "does not open with that password",
  );
});

test("a key of one's own comes from standard input, and malformed input is not repeated", async () => {
  expect(await run("create @own.json --password-file @password --import", `${OTHER}\n`)).toEqual([
    privateKeyToAddress(OTHER),
  ]);
  const faulty = run("create @none.json --password-file @password --import", `${OTHER}ff`);
  await expect(faulty).rejects.toThrow("standard input holds no key");
  await expect(faulty).rejects.not.toThrow(OTHER);
});

test.each([
  ["create @x.json", "Usage"],
  ["create --password-file @password", "Usage"],
  ["delete @x.json --password-file @password", 'unknown action "delete"'],
  ["create @x.json --password-file @short", "the password has 5 characters"],
  ["create @x.json --password-file @absent", "ENOENT"],
])("%s is refused", async (line, message) => {
  await expect(run(line)).rejects.toThrow(message);
});
