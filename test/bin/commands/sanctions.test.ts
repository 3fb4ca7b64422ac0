import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { getAddress } from "viem";
import { beforeEach, describe, expect, it } from "vitest";
import { type Download, runSanctions, type SanctionsDeps } from "../../../bin/commands/sanctions.ts";
import { fetchFailure } from "../../../service/net/exchange.ts";
import { DownloadFailure } from "../../../service/net/guarded-fetch.ts";
import { sanctionsListHash } from "../../../service/sanctions/list-file.ts";
import { requireSanctionsSource } from "../../../service/sanctions/sources.ts";
import { createIndexTables } from "../../service/db/index-tables.ts";
import { clearSanctions } from "../../service/sanctions/clear-sanctions.ts";
import { bytesOf, evmAddress, sdnXml, type TestParty } from "../../service/sanctions/sdn-file.ts";
import { useDatabase } from "../../support/test-database.ts";
import { useFolder } from "../../support/use-folder.ts";

const CHAIN = { chainId: 31_337, sanctionsList: { address: getAddress(evmAddress(77)), startBlock: 0 } };
const NOW = new Date("2026-11-20T10:00:00Z");
const URL_OF_LIST = "https://list.example/sdn_advanced.xml";

const db = useDatabase();
const folder = useFolder();

beforeEach(async () => {
  await clearSanctions(db);
});

async function sanctions(
  args: readonly string[],
  changes: Partial<SanctionsDeps> = {},
): Promise<readonly string[]> {
  const lines: string[] = [];
  await runSanctions(args, {
    db,
    out: (line) => lines.push(line),
    now: () => NOW,
    download: async () => {
      throw new Error("nothing was to be downloaded");
    },
    chain: () => ({ deployment: CHAIN, contract: null }),
    ...changes,
  });
  return lines;
}

function party(fixedRef: string, ...values: string[]): TestParty {
  return { fixedRef, ids: values.map((value) => ({ currency: "ETH", value })) };
}

function file(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const TWO = sdnXml({ parties: [party("900", evmAddress(1)), party("901", evmAddress(2), "0x12")] });
const HASH_OF_TWO = sanctionsListHash([
  { address: evmAddress(1), reference: "900" },
  { address: evmAddress(2), reference: "901" },
]);

async function entries(): Promise<number> {
  const { rows } = await db.$client.query("select count(*)::int as count from ahs.sanctions_entry");
  return rows[0].count;
}

describe("ahs sanctions import", () => {
  it.each([
    ["a file", TWO],
    ["a gzipped file", gzipSync(TWO)],
  ])("takes %s and lists its changes", async (name, content) => {
    expect(await sanctions(["import", file(name, content)])).toEqual([
      `ofac-sdn, edition 2026-11-20: 2 EVM addresses of 2 parties, list hash ${HASH_OF_TWO}`,
      "2 added, 0 removed, 0 under another entry, 0 unchanged; 0 ids of other kinds of chains",
      "1 ids that should be EVM addresses but are not:",
      "  ETH 0x12 (OFAC 901)",
    ]);
    expect(await entries()).toBe(2);
  });

  it("takes what a URL answers, within limits and redirects that it passes on", async () => {
    const asked: Parameters<Download>[0][] = [];
    const download: Download = async (request) => {
      asked.push(request);
      return { kind: "open", bytes: bytesOf(gzipSync(TWO)) };
    };
    await sanctions(["import", URL_OF_LIST, "--redirect-to", "a.example", "--redirect-to", "b.example"], {
      download,
    });
    expect(asked).toEqual([
      { url: URL_OF_LIST, maxBytes: 500_000_000, redirectHosts: ["a.example", "b.example"] },
    ]);
    expect(await entries()).toBe(2);
  });

  it.each<[string, Download, string]>([
    ["a refused address", async () => fetchFailure("refused_target"), "must be https"],
    [
      "a redirect elsewhere",
      async () => ({ kind: "elsewhere", host: "s3.example" }),
      "--redirect-to s3.example allows that",
    ],
    ["an error of the host", async () => ({ kind: "status", status: 503 }), "status 503"],
    [
      "a body that breaks off",
      async () => ({
        kind: "open",
        bytes: (async function* () {
          yield Buffer.from(TWO.slice(0, 900));
          throw new DownloadFailure(fetchFailure("connection"));
        })(),
      }),
      "broke before the answer was complete",
    ],
  ])("keeps the last list on %s, and says so", async (_name, download, message) => {
    await sanctions(["import", file("two.xml", TWO)]);
    const importing = sanctions(["import", URL_OF_LIST], { download });
    await expect(importing).rejects.toThrow("the last list stays in force");
    await expect(importing).rejects.toThrow(message);
    expect(await entries()).toBe(2);
  });

  it("keeps the last list on a file that is broken, empty or much shorter, unless it is forced", async () => {
    const ten = sdnXml({
      parties: [party("900", ...Array.from({ length: 10 }, (_, number) => evmAddress(number)))],
    });
    await sanctions(["import", file("ten.xml", ten)]);
    const two = file("two.xml", TWO);
    const none = file("none.xml", sdnXml({ parties: [] }));
    await expect(sanctions(["import", file("cut.xml", TWO.slice(0, -30))])).rejects.toThrow("not whole");
    await expect(sanctions(["import", two])).rejects.toThrow("--force");
    await expect(sanctions(["import", none])).rejects.toThrow("--allow-empty");
    await expect(sanctions(["import", join(folder, "nowhere.xml")])).rejects.toThrow("ENOENT");
    expect(await entries()).toBe(10);
    await sanctions(["import", two, "--force"]);
    expect(await entries()).toBe(2);
    await sanctions(["import", none, "--force", "--allow-empty"]);
    expect(await entries()).toBe(0);
  });

  it.each([
    [[], "no action"],
    [["fetch"], 'unknown action "fetch"'],
    [["import"], "import takes one file or URL"],
    [["import", "a", "b"], "import takes one file or URL"],
    [["import", "a", "--forec"], "--forec"],
    [["status", "now"], "now"],
    [["check"], "check takes one address"],
    [["check", "0x12"], 'got "0x12"'],
    [["check", "0x9965507d1A55bcC2695C58ba16FB37d819B0A4dc"], "check takes one address"],
  ] as const)("%j is refused with what was expected", async (args, message) => {
    await expect(sanctions(args)).rejects.toThrow(message);
  });
});

/** An index whose newest block is 30 seconds old and lists wallet 5. */
async function index(): Promise<void> {
  await createIndexTables(db, 31_337);
  const seconds = NOW.getTime() / 1000;
  await db.$client.query("insert into chain_31337.block values (700, '0x01', $1, 1)", [seconds - 30]);
  await db.$client.query(
    "insert into chain_31337.sanctions_change values ('1', $1, true, 600, 0, $2, '0xabc')",
    [evmAddress(5), seconds - 100],
  );
}

describe("ahs sanctions status", () => {
  it("says of a new database that nothing was ever read", async () => {
    const [, ...rows] = await sanctions(["status"]);
    expect(rows.map((row) => row.split(/ {2,}/).slice(0, 2))).toEqual([
      ["chainalysis-oracle", "never read"],
      ["ofac-sdn", "never read"],
    ]);
  });

  it("lists age, edition, entries and hash of every source", async () => {
    await index();
    await db.$client.query(
      "insert into chain_31337.wallet values ($1, 'registered', 1, 0, 0, null, null, null, 1)",
      [evmAddress(6)],
    );
    await sanctions(["import", file("two.xml", TWO)], { now: () => new Date("2026-11-17T09:00:00Z") });
    const rows = (await sanctions(["status"])).map((row) => row.split(/ {2,}/));
    expect(rows).toEqual([
      ["source", "age", "checked at", "edition", "entries", "list hash"],
      [
        "chainalysis-oracle",
        "30 s old",
        "2026-11-20T09:59:30.000Z",
        "block 700",
        "1",
        sanctionsListHash([{ address: evmAddress(5), reference: "0xabc" }]),
        "1 wallets not asked about yet",
      ],
      ["ofac-sdn", "3 d old", "2026-11-17T09:00:00.000Z", "2026-11-20", "2", HASH_OF_TWO],
    ]);
  });
});

describe("a chain without a sanctions contract", () => {
  const deployment = { chainId: 31_337, sanctionsList: null };
  const chain = () => ({ deployment, contract: null });

  it("has imported lists as its only source, and says nothing of a contract", async () => {
    await index();
    await sanctions(["import", file("two.xml", TWO)]);
    const rows = (await sanctions(["status"], { chain })).slice(1).map((row) => row.split(/ {2,}/)[0]);
    expect(rows).toEqual(["ofac-sdn"]);
    expect((await sanctions(["check", evmAddress(2)], { chain })).join("\n")).toMatch(
      /sanctioned\nofac-sdn +listed: 901, known since \S+ +0 s old$/,
    );
  });

  it("is neither scored nor served before the first import", async () => {
    await index();
    await expect(requireSanctionsSource(db, deployment)).rejects.toThrow('Run "ahs sanctions import" first');
    await expect(requireSanctionsSource(db, CHAIN)).resolves.toBeUndefined();
    await sanctions(["import", file("two.xml", TWO)]);
    await expect(requireSanctionsSource(db, deployment)).resolves.toBeUndefined();
  });
});

describe("ahs sanctions check", () => {
  it("names the lists of an address, and the answer of the contract now", async () => {
    await index();
    await sanctions(["import", file("two.xml", TWO)]);
    const contract = { isSanctioned: async () => true, blockHash: async () => null };
    const chain = () => ({ deployment: CHAIN, contract });
    const lines = await sanctions(["check", getAddress(evmAddress(2))], { chain });
    expect(lines.map((line) => line.split(/ {2,}/))).toEqual([
      [`${getAddress(evmAddress(2))}: sanctioned`],
      ["chainalysis-oracle", "not listed", "30 s old"],
      ["ofac-sdn", "listed: 901, known since 2026-11-20T10:00:00.000Z", "0 s old"],
      ["the contract itself, asked now: listed"],
    ]);
    expect((await sanctions(["check", evmAddress(5)])).join("\n")).toMatch(
      /sanctioned\nchainalysis-oracle +listed: 0xabc, known since 2026-11-20T09:58:20.000Z/,
    );
    expect((await sanctions(["check", evmAddress(9)]))[0]).toContain("on no list that is known");
  });

  it("knows imported lists without an index, and says what it does not know", async () => {
    await sanctions(["import", file("two.xml", TWO)]);
    const contract = {
      isSanctioned: async () => {
        throw new Error("connect ECONNREFUSED");
      },
      blockHash: async () => null,
    };
    const lines = await sanctions(["check", evmAddress(1)], {
      chain: () => ({ deployment: CHAIN, contract }),
    });
    expect(lines.join("\n")).toMatch(
      /sanctioned\nchainalysis-oracle +nothing known +never read\nofac-sdn +listed: 900.*\nthe contract itself did not answer: connect/,
    );
  });
});
