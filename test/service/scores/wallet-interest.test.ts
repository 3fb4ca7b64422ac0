import type { Address } from "viem";
import { describe, expect, it } from "vitest";
import { createInterestRecorder } from "../../../service/scores/wallet-interest.ts";
import { useDatabase } from "../../support/test-database.ts";

const WALLET: Address = "0x9965507d1a55bcc2695c58ba16fb37d819b0a4dc";
const HOUR = 3_600_000;

const db = useDatabase();

async function lastAt(chainId: number): Promise<Date | undefined> {
  const { rows } = await db.$client.query("select last_at from ahs.wallet_interest where chain_id = $1", [
    chainId,
  ]);
  return rows[0]?.last_at;
}

describe("recording interest", () => {
  it("writes a wallet at most once an hour", async () => {
    let now = new Date("2026-11-20T10:00:00Z");
    const record = createInterestRecorder(db, 1, () => now);
    await record(WALLET);
    now = new Date(now.getTime() + HOUR - 1);
    await record(WALLET);
    expect(await lastAt(1)).toEqual(new Date("2026-11-20T10:00:00Z"));
    now = new Date(now.getTime() + 1);
    await record(WALLET);
    expect(await lastAt(1)).toEqual(new Date("2026-11-20T11:00:00Z"));
  });

  it("never moves backwards when another process was later", async () => {
    const later = createInterestRecorder(db, 2, () => new Date("2026-11-20T12:00:00Z"));
    const earlier = createInterestRecorder(db, 2, () => new Date("2026-11-20T11:00:00Z"));
    await later(WALLET);
    await earlier(WALLET);
    expect(await lastAt(2)).toEqual(new Date("2026-11-20T12:00:00Z"));
  });

  it("tries again after a failed write", async () => {
    const record = createInterestRecorder(db, 3, () => new Date("2026-11-20T10:00:00Z"));
    await db.$client.query("alter table ahs.wallet_interest rename to gone");
    await expect(record(WALLET)).rejects.toThrow();
    await db.$client.query("alter table ahs.gone rename to wallet_interest");
    await record(WALLET);
    expect(await lastAt(3)).toEqual(new Date("2026-11-20T10:00:00Z"));
  });
});
