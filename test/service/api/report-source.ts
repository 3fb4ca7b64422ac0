import type { Address } from "viem";
import type { ReportSource } from "../../../service/api/kit/wallet-report.ts";
import type { AsOf, WalletRows } from "../../../service/model/features/types.ts";
import { account, callsOf, DAY, GWEI, payment, rowsOf, type Step } from "../model/features/histories.ts";

/** Unix seconds of 2026-11-20T09:59:00Z, a minute before the clock of fake ports. */
export const AS_OF_SECONDS = 1_795_168_740;

const AS_OF: AsOf = { blockNumber: 970, blockHash: `0x${"11".repeat(32)}`, timestamp: AS_OF_SECONDS };
const WALLET: Address = "0x9965507d1a55bcc2695c58ba16fb37d819b0a4dc";

/** Thirty days of a call and a payment a day, one call of them reverted, one out of gas. */
const STEPS: readonly Step[] = Array.from({ length: 30 }, (_, day): readonly Step[] => {
  const at = AS_OF_SECONDS - (30 - day) * DAY;
  return [
    { at, to: account(0xd1), ...outcomeOf(day) },
    { ...payment(at + 60, account(0xe0 + (day % 3)), 5_000_000n), gasLimit: 80_000n, gasUsed: 50_000n },
  ];
}).flat();

function outcomeOf(day: number): Partial<Step> {
  if (day === 10) return { ok: false, gasUsed: 40_000n, gasPrice: 2n * GWEI };
  return day === 20 ? { ok: false, gasUsed: 100_000n } : {};
}

/** Rows of the fake wallet at block 970, whose whole history is known, with whatever is to be different. */
export function reportSource(parts: Partial<WalletRows> = {}): ReportSource {
  const coverage = { fromBlock: 1, fromTimestamp: 1_760_000_000, toBlock: 970, complete: true };
  return {
    asOf: AS_OF,
    rows: rowsOf(callsOf(STEPS), {
      wallet: WALLET,
      coverage: { ...coverage, sources: ["index"] },
      chainStartTimestamp: 1_760_000_000,
      ...parts,
    }),
  };
}
