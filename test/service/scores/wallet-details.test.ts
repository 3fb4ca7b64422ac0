import type { Address } from "viem";
import { expect, it } from "vitest";
import { createDetailReader, type WalletDetails } from "../../../service/scores/wallet-details.ts";
import { insertScore } from "../../support/score-rows.ts";
import { useDatabase } from "../../support/test-database.ts";

const CHAIN = 31337;
const db = useDatabase();

function wallet(number: number): Address {
  return `0x${number.toString(16).padStart(40, "0")}`;
}

const NOTHING: WalletDetails = {
  score: null,
  trend: { points: 0, change: null },
  calls: 0,
  lastCallAt: null,
};

it("reads each wallet by the given row of its score, with the 30 days before it and the calls of its chain", async () => {
  const [scored, active] = [wallet(1), wallet(2)];
  const at = (time: string, ahsScore: number) =>
    insertScore(db, { wallet: scored, ahsScore, d1Score: ahsScore, asOfTime: new Date(time) });
  await at("2026-10-01T09:00:00Z", 0);
  await at("2026-11-10T09:00:00Z", 70);
  await at("2026-11-15T09:00:00Z", 80);
  const pattern = { name: "loop", severity: "info", effect: 0, evidence: "A loop" } as const;
  const row = await insertScore(db, { wallet: scored, ahsScore: 90, d1Score: 88, patterns: [pattern] });
  for (const [chainId, own, block, seconds] of [
    [CHAIN, active, 7, 1_795_000_007],
    [CHAIN, active, 9, 1_795_000_009],
    [1, active, 11, 1_795_000_011],
  ])
    await db.$client.query(
      `insert into ahs.own_call (chain_id, wallet, block, transaction_index, position, hash, origin, source, "timestamp", ok,
         gas_limit, gas_used, gas_price_wei, fee_wei)
       values ($1, $2, $3, 0, 0, $4, 'transaction', 'enrich', $5, true, 1, 1, 1, 1)`,
      [chainId, own, block, `0x${"ab".repeat(32)}`, seconds],
    );
  const read = createDetailReader(db, CHAIN);
  const wanted = [
    { address: active, scoreId: null },
    { address: scored, scoreId: row.id },
    { address: wallet(3), scoreId: 999_999 },
    { address: scored, scoreId: null },
  ];
  expect(await Promise.all(wanted.map(read))).toEqual([
    { ...NOTHING, calls: 2, lastCallAt: new Date(1_795_000_009_000) },
    {
      ...NOTHING,
      score: { d1Score: 88, d2Score: 82, features: [], patterns: [pattern] },
      trend: { points: 3, change: expect.closeTo(20) },
    },
    NOTHING,
    NOTHING,
  ]);
});
