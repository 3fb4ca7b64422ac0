/** A price in thousandths of a US dollar as texts show it: always three decimals. */
export function usd(units: number): string {
  return (units / 1000).toFixed(3);
}
