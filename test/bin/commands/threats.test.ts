import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { beforeEach, describe, expect, it } from "vitest";
import { runThreats } from "../../../bin/commands/threats.ts";
import { createScoreReader } from "../../../service/scores/scores.ts";
import { createIndexTables } from "../../service/db/index-tables.ts";
import { clearSanctions } from "../../service/sanctions/clear-sanctions.ts";
import { evmAddress } from "../../service/sanctions/sdn-file.ts";
import { useDatabase } from "../../support/test-database.ts";
import { useFolder } from "../../support/use-folder.ts";

const SOURCE = "https://list.example/address.json";
const OF = ["--list", "phish", "--kind", "phishing", "--source", SOURCE, "--licence", "MIT"];

const db = useDatabase();
const folder = useFolder();
let now: Date;

beforeEach(async () => {
  await clearSanctions(db);
  now = new Date("2026-11-20T10:00:00.123Z");
});

async function threats(...args: readonly string[]): Promise<readonly string[]> {
  const lines: string[] = [];
  await runThreats(args, { db, out: (line) => lines.push(line), now: () => now });
  return lines;
}

function listOf(...numbers: readonly number[]): string {
  return file(JSON.stringify(numbers.map(evmAddress)));
}

function file(content: string | Uint8Array): string {
  const path = join(folder, "list");
  writeFileSync(path, content);
  return path;
}

async function entries() {
  const { rows } = await db.$client.query(
    "select list, address, listed_at from ahs.threat_entry order by list, address",
  );
  return rows.map(({ list, address, listed_at }) => `${list} ${Number(address)} ${listed_at.toISOString()}`);
}

describe("ahs threats import", () => {
  it("replaces the whole list; an address that stays listed keeps the moment of its first import", async () => {
    expect(await threats("import", listOf(1, 2, 2), ...OF, "--date", "2026-11-18")).toEqual([
      `phish (phishing), of 2026-11-18, from ${SOURCE}: 2 addresses`,
      "2 added, 0 removed, 0 unchanged; 1 repeated entries",
    ]);
    now = new Date("2026-11-21T10:00:00Z");
    expect(
      await threats("import", file(gzipSync(`address\n${evmAddress(2)}\n${evmAddress(3)}\nx`)), ...OF),
    ).toEqual([
      `phish (phishing), of 2026-11-21, from ${SOURCE}: 2 addresses`,
      "1 added, 1 removed, 1 unchanged; 0 repeated entries",
      "1 entries are no EVM address:",
      "  x",
    ]);
    expect(await entries()).toEqual(["phish 2 2026-11-20T10:00:00.123Z", "phish 3 2026-11-21T10:00:00.000Z"]);
  });

  it("keeps the last list where the next one looks damaged, unless it is forced", async () => {
    await threats("import", listOf(1, 2, 3), ...OF);
    await expect(threats("import", listOf(1), ...OF)).rejects.toThrow(
      "was not imported, and the last list stays in force: it has 1 addresses where the kept one has 3",
    );
    await expect(threats("import", file("[]"), ...OF)).rejects.toThrow("no EVM address");
    expect(await entries()).toHaveLength(3);
    await threats("import", listOf(1), ...OF, "--force");
    expect(await entries()).toHaveLength(1);
  });

  it.each([
    ["no list", [], "--list: given nothing, expected a name of lower-case letters, digits and dashes"],
    ["a name with spaces", ["--list", "my list"], '--list: given "my list"'],
    [
      "an unknown kind",
      [...OF, "--kind", "bad"],
      '--kind: given "bad", expected one of phishing, scam, mixer, exploit',
    ],
    ["no licence", OF.slice(0, 6), "--licence: given nothing, expected 1 to 500 printable characters"],
    ["a line break in the source", [...OF, "--source", "a\nb"], "--source"],
    ["no day", [...OF, "--date", "2026-02-30"], '--date: given "2026-02-30", expected a day of the calendar'],
  ])("refuses %s", async (_, args, message) => {
    await expect(threats("import", listOf(1), ...args)).rejects.toThrow(message);
    expect(await entries()).toEqual([]);
  });
});

describe("ahs threats list and remove", () => {
  it("shows every list, and removes one with its entries", async () => {
    expect(await threats("list")).toEqual(["no list of threats was imported"]);
    await threats("import", listOf(1), ...OF);
    await threats("import", listOf(1, 2), ...OF, "--list", "other");
    expect((await threats("list")).slice(1).map((line) => line.split(/ {2,}/))).toEqual([
      ["other", "phishing", "2026-11-20", "2026-11-20T10:00:00.123Z", "2", SOURCE, "MIT"],
      ["phish", "phishing", "2026-11-20", "2026-11-20T10:00:00.123Z", "1", SOURCE, "MIT"],
    ]);
    expect(await threats("remove", "other")).toEqual([
      "other was removed: its wallets are listed by it no more",
    ]);
    expect(await entries()).toEqual(["phish 1 2026-11-20T10:00:00.123Z"]);
    await expect(threats("remove", "other")).rejects.toThrow('there is no list "other"');
  });
});

it("a wallet's threats name every list that it is on", async () => {
  await createIndexTables(db, 31_337);
  await threats("import", listOf(1, 2), ...OF);
  await threats("import", listOf(1), ...OF, "--list", "drains", "--kind", "exploit");
  const { snapshot } = createScoreReader(db, 31_337);
  const found = await Promise.all([1, 2, 3].map((number) => snapshot(evmAddress(number))));
  const listed_at = "2026-11-20T10:00:00.123Z";
  const phish = { list: "phish", kind: "phishing", source: SOURCE, listed_at };
  const drains = { list: "drains", kind: "exploit", source: SOURCE, listed_at };
  expect(found.map((one) => one.threats)).toEqual([[drains, phish], [phish], []]);
});
