import { areaUnderCurve } from "../measures.ts";
import type { LabelledWallet } from "./read-wallets.ts";

const FIGURES = [
  "failed_tx_ratio",
  "unique_counterparties",
  "active_days",
  "burstiness",
  "time_concentration",
] as const;

/** How well one figure separates bad wallets from normal ones. */
type FigureRow = {
  readonly figure: (typeof FIGURES)[number];
  readonly bad: number;
  readonly normal: number;
  /** Chance that a bad wallet has more of it than a normal one; 0.5 says nothing. Null where a side is empty. */
  readonly auc: number | null;
};

/** By figure, over wallets with so many transactions or more. */
export function figureTable(
  wallets: readonly LabelledWallet[],
  leastTransactions: number,
): readonly FigureRow[] {
  const busy = wallets.filter(({ figures }) => (figures.get("tx_count") ?? 0) >= leastTransactions);
  return FIGURES.map((figure) => {
    const of = (isBad: boolean) =>
      busy.flatMap((wallet) => {
        const value = wallet.figures.get(figure);
        return wallet.isBad !== isBad || value === undefined ? [] : [value];
      });
    const [bad, normal] = [of(true), of(false)];
    return { figure, bad: bad.length, normal: normal.length, auc: areaUnderCurve(bad, normal) };
  });
}
