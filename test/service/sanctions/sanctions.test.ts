import type { Address } from "viem";
import { beforeEach, describe, expect, it } from "vitest";
import type { SanctionsFlag } from "../../../service/model/features/types.ts";
import {
  readImportedFlags,
  readSanctionsEntries,
  readSanctionsFlags,
} from "../../../service/sanctions/sanctions.ts";
import { useDatabase } from "../../support/test-database.ts";
import { createIndexTables } from "../db/index-tables.ts";
import { clearSanctions } from "./clear-sanctions.ts";

const CHAIN = { schema: "chain_31337", chainId: 31_337 };
const SECONDS = 1_790_000_000;

const db = useDatabase();

beforeEach(async () => {
  await clearSanctions(db);
  await createIndexTables(db, CHAIN.chainId);
});

function wallet(number: number): Address {
  return `0x${number.toString(16).padStart(40, "0")}`;
}

async function event(address: Address, block: number, listed: boolean, logIndex = 0): Promise<void> {
  await db.$client.query(`insert into chain_31337.sanctions_change values ($1, $2, $3, $4, $5, $6, $7)`, [
    `${block}-${logIndex}-${address}`,
    address,
    listed,
    block,
    logIndex,
    SECONDS + block,
    `0xe${block}`,
  ]);
}

async function reading(address: Address, block: number, listed: boolean, chainId = CHAIN.chainId) {
  await db.$client.query("insert into ahs.sanctions_reading values ($1, $2, $3, $4, to_timestamp($5))", [
    chainId,
    address,
    listed,
    block,
    SECONDS + block + 0.1239,
  ]);
}

async function imported(address: Address, reference: string): Promise<void> {
  await db.$client.query(
    "insert into ahs.sanctions_entry values ('ofac-sdn', $1, $2, '2026-11-20T06:00:00.5Z')",
    [address, reference],
  );
}

/** The list and the single look-up, which must agree at the newest block. */
async function listed(asOfBlock = 1_000_000) {
  const entries = await readSanctionsEntries(db.$client, { ...CHAIN, asOfBlock });
  if (asOfBlock === 1_000_000) {
    const asked = Array.from({ length: 20 }, (_, number) => wallet(number));
    const flags = await readSanctionsFlags(db, CHAIN.chainId, asked);
    const flagged = asked.flatMap((address) =>
      (flags.get(address) ?? []).map((flag) => ({ address, ...flag })),
    );
    expect(flagged).toEqual(entries);
  }
  return entries;
}

const byEvent = (block: number): SanctionsFlag => ({
  source: "chainalysis-oracle",
  reference: `0xe${block}`,
  detected_at: new Date((SECONDS + block) * 1000).toISOString(),
});
const byReading = (block: number): SanctionsFlag => ({
  source: "chainalysis-oracle",
  reference: `isSanctioned at block ${block}`,
  detected_at: new Date((SECONDS + block) * 1000 + 123).toISOString(),
});
const byImport = (reference: string): SanctionsFlag => ({
  source: "ofac-sdn",
  reference,
  detected_at: "2026-11-20T06:00:00.500Z",
});

describe("sanctions", () => {
  it("of all sources are one entry per source and address, by address, then source", async () => {
    await imported(wallet(2), "900");
    await imported(wallet(1), "27307");
    await event(wallet(2), 5, true);
    await reading(wallet(3), 7, true);
    await reading(wallet(4), 7, false);
    expect(await listed()).toEqual([
      { address: wallet(1), ...byImport("27307") },
      { address: wallet(2), ...byEvent(5) },
      { address: wallet(2), ...byImport("900") },
      { address: wallet(3), ...byReading(7) },
    ]);
  });

  it("by the contract follow the newest event up to the block, else the first answer", async () => {
    await reading(wallet(1), 50, true);
    await event(wallet(1), 20, false);
    await event(wallet(1), 30, true, 4);
    await event(wallet(1), 30, false, 9);
    await event(wallet(1), 40, true);
    const at = async (block: number) => (await listed(block)).map((entry) => entry.reference);
    expect(await Promise.all([10, 20, 29, 30, 39, 40].map(at))).toEqual([
      ["isSanctioned at block 50"],
      [],
      [],
      [],
      [],
      ["0xe40"],
    ]);
  });

  it("end with a removal, whatever reported the listing, and another list's entry stays", async () => {
    await reading(wallet(1), 5, true);
    await event(wallet(2), 5, true);
    for (const number of [1, 2]) await imported(wallet(number), `10${number}`);
    for (const number of [1, 2]) await event(wallet(number), 9, false);
    expect(await listed()).toEqual(
      [1, 2].map((number) => ({ address: wallet(number), ...byImport(`10${number}`) })),
    );
    await db.execute("delete from ahs.sanctions_entry");
    expect(await listed()).toEqual([]);
  });

  it("of another chain's contract count for nothing here", async () => {
    await reading(wallet(1), 5, true, 1);
    expect(await listed()).toEqual([]);
  });

  it("of imported lists are known without an index", async () => {
    await db.execute("drop schema chain_31337 cascade");
    await imported(wallet(1), "900");
    expect(await readImportedFlags(db, wallet(1))).toEqual([byImport("900")]);
    expect(await readImportedFlags(db, wallet(2))).toEqual([]);
  });
});
